"""A real S3 server for the tests: SeaweedFS from its wheel, on free ports of the loopback address."""

import json
import os
import subprocess
import sysconfig
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jobs.storage import S3Access
from portal.local import ports
from tests.support.wait import until

KEY, SECRET, BUCKET = "berth-tests", "berth-tests-secret", "berth"
# The shell ends the server when its standard input closes, also when the tests are killed; at once, since the
# data is thrown away.
GUARD = '"$@" & child=$!; cat >/dev/null; kill -9 $child; wait $child'


@contextmanager
def server(folder: Path) -> Iterator[S3Access]:
    """Run an S3 server with the bucket ``berth`` for the time of the block."""
    weed = Path(sysconfig.get_path("scripts")) / "weed"
    config = folder / "s3.json"
    identity = {
        "name": "tests",
        "credentials": [{"accessKey": KEY, "secretKey": SECRET}],
        "actions": ["Admin", "Read", "List", "Tagging", "Write"],
    }
    config.write_text(json.dumps({"identities": [identity]}))
    names = ("master.port", "master.port.grpc", "volume.port", "volume.port.grpc")
    names += ("filer.port", "filer.port.grpc", "s3.port", "s3.port.grpc")
    chosen = {name: ports.free() for name in names}
    command = [str(weed), "server", f"-dir={folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-s3"]
    command += [f"-s3.config={config}", "-master.telemetry=false", "-master.volumeSizeLimitMB=64"]
    command += [
        "-s3.port.iceberg=0",
        "-s3.iam=false",
        "-volume.max=20",
        f"-filer.localSocket={folder}/filer.sock",
    ]
    command += [f"-s3.localSocket={folder}/s3.sock"]
    command += [f"-{name}={port}" for name, port in chosen.items()]
    endpoint = f"http://127.0.0.1:{chosen['s3.port']}"
    with (folder / "weed.log").open("wb") as log:
        process = subprocess.Popen(
            ["/bin/sh", "-c", GUARD, "weed", *command],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            cwd=folder,
            env={"PATH": os.environ["PATH"], "HOME": str(folder)},
            start_new_session=True,
        )
    try:
        until(lambda: _answers(endpoint), seconds=30)
        access = S3Access(KEY, SECRET, endpoint, "us-east-1")
        until(lambda: _bucket(access), seconds=30)
        yield access
    finally:
        assert process.stdin is not None
        process.stdin.close()
        process.wait(timeout=30)


def _answers(endpoint: str) -> bool:
    try:
        with urllib.request.urlopen(endpoint + "/healthz", timeout=2):
            return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False


def _bucket(access: S3Access) -> bool:
    import s3fs

    system = s3fs.S3FileSystem(
        key=access.key, secret=access.secret, endpoint_url=access.endpoint_url, skip_instance_cache=True
    )
    try:
        if not system.exists(BUCKET):
            system.mkdir(BUCKET)
        system.pipe_file(f"{BUCKET}/ready", b"1")
        system.rm(f"{BUCKET}/ready")
    except OSError:
        return False
    return True
