"""A real S3 server for the tests: SeaweedFS from its wheel, on free ports of the loopback address."""

import json
import os
import subprocess
import sysconfig
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import botocore.exceptions
import s3fs

from jobs.storage import S3Access
from portal.local import ports
from tests.support.wait import until

KEY, SECRET, BUCKET = "berth-tests", "berth-tests-secret", "berth"
PORTS = ("master.port", "volume.port", "filer.port", "s3.port")
STARTS = 3
# Ends the server when its own standard input closes, also when the tests are killed.
GUARD = 'cat >/dev/null; kill -9 "$1"'


class Died(Exception):
    """The server ended by itself, for instance because somebody took one of its ports first."""


@contextmanager
def server(folder: Path) -> Iterator[S3Access]:
    """Run an S3 server with the bucket ``berth`` for the time of the block."""
    for start in range(STARTS):
        own = folder / str(start)
        own.mkdir()
        process, endpoint = _spawn(own)
        guard = subprocess.Popen(
            ["/bin/sh", "-c", GUARD, "guard", str(process.pid)], stdin=subprocess.PIPE, start_new_session=True
        )
        access = S3Access(KEY, SECRET, endpoint, "us-east-1")
        try:
            until(partial(_ready, process, access), seconds=60, pause=0.1)
            yield access
            return
        except Died:
            if start == STARTS - 1:
                raise AssertionError((own / "weed.log").read_text(errors="replace")[-2000:]) from None
        finally:
            guard.kill()
            guard.communicate()
            process.kill()  # at once: the data is thrown away
            process.wait()


def _spawn(folder: Path) -> tuple[subprocess.Popen[bytes], str]:
    config = folder / "s3.json"
    identity = {
        "name": "tests",
        "credentials": [{"accessKey": KEY, "secretKey": SECRET}],
        "actions": ["Admin", "Read", "List", "Tagging", "Write"],
    }
    config.write_text(json.dumps({"identities": [identity]}))
    chosen: dict[str, int] = {}
    for name in (*PORTS, *(f"{name}.grpc" for name in PORTS)):
        chosen[name] = until(lambda: (port := ports.free()) not in chosen.values() and port)
    command = [str(Path(sysconfig.get_path("scripts")) / "weed"), "server", f"-dir={folder}", "-s3"]
    command += ["-ip=127.0.0.1", "-ip.bind=127.0.0.1", f"-s3.config={config}", "-s3.iam=false"]
    command += ["-master.telemetry=false", "-master.volumeSizeLimitMB=64", "-volume.max=20"]
    command += ["-s3.port.iceberg=0", "-s3.port.lance=0"]
    command += [f"-filer.localSocket={folder}/filer.sock", f"-s3.localSocket={folder}/s3.sock"]
    command += [f"-{name}={port}" for name, port in chosen.items()]
    with (folder / "weed.log").open("wb") as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=folder,
            env={"PATH": os.environ["PATH"], "HOME": str(folder)},
            start_new_session=True,
        )
    return process, f"http://127.0.0.1:{chosen['s3.port']}"


def _ready(process: subprocess.Popen[bytes], access: S3Access) -> bool:
    if process.poll() is not None:
        raise Died
    try:
        with urllib.request.urlopen(access.endpoint_url + "/healthz", timeout=2):
            pass
    except urllib.error.HTTPError:
        pass  # an answer
    except OSError:
        return False
    return _bucket(access)


def _bucket(access: S3Access) -> bool:
    system = s3fs.S3FileSystem(
        key=access.key, secret=access.secret, endpoint_url=access.endpoint_url, skip_instance_cache=True
    )
    try:
        if not system.exists(BUCKET):
            system.mkdir(BUCKET)
        system.pipe_file(f"{BUCKET}/ready", b"1")
        system.rm(f"{BUCKET}/ready")
    except (OSError, botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError):
        return False
    return True
