"""P1: `POST jobs` from 16 clients, against a bare view that inserts one row on the same server."""

import http.client
import json
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")

from tests.support import services  # noqa: E402

CLIENTS = 16
SECONDS = float(os.environ.get("BENCH_SECONDS", "60"))
SLICES = 6  # the two take turns, so that what else the machine does hits both


def prepare() -> tuple[str, str]:
    """Make a customer with a ready cluster that is full; return its token and id."""
    from datetime import timedelta

    from django.utils import timezone

    from clusters.models import Cluster
    from jobs.services import demo
    from tests.support import fleet, people

    now = timezone.now()
    owner = people.member()
    demo.seed(now=now)
    cluster = fleet.cluster(
        number=4, start=now, end=now + timedelta(days=2), now=now, organisation=owner.organisation
    )
    Cluster.objects.filter(pk=cluster.pk).update(gpus_used=32)
    return people.token(owner)[1], cluster.pk


def serve(database: str) -> tuple[subprocess.Popen[bytes], int]:
    """Start the portal's web server with its own configuration and the bare view beside its addresses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    base = os.environ["DATABASE_URL"].rpartition("/")[0]
    environment = {
        **os.environ,
        "DATABASE_URL": f"{base}/{database}",
        "DJANGO_SETTINGS_MODULE": "bench.settings",
        "WEB_BIND": f"127.0.0.1:{port}",
    }
    command = [sys.executable, "-m", "gunicorn", "--config", "portal/gunicorn.py", "portal.wsgi"]
    child = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return child, port
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("the web server did not start")


def client(port: int, path: str, headers: dict[str, str], body: bytes, seconds: float, out: Any) -> None:
    """Post as fast as answers come, for some seconds; put the time of each."""
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    times = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        begun = time.perf_counter()
        link.request("POST", path, body, headers)
        answer = link.getresponse()
        said = answer.read()
        if answer.status != 201:
            raise RuntimeError(f"{path}: {answer.status} {said[:300]!r}")
        times.append(time.perf_counter() - begun)
    out.put(times)


def load(port: int, path: str, headers: dict[str, str], body: bytes, seconds: float) -> list[float]:
    """Let all clients work at once and return the times of all answers."""
    context = multiprocessing.get_context("fork")
    out = context.Queue()
    rivals = [
        context.Process(target=client, args=(port, path, headers, body, seconds, out)) for _ in range(CLIENTS)
    ]
    for rival in rivals:
        rival.start()
    found = [one for _ in rivals for one in out.get()]
    for rival in rivals:
        rival.join()
    return found


def main() -> None:
    """Print one line."""
    import django

    django.setup()
    from django.db import connection, connections
    from django.test.utils import setup_databases, teardown_databases

    databases = setup_databases(verbosity=0, interactive=False, serialized_aliases=[])
    child = None
    try:
        token, cluster = prepare()
        child, port = serve(str(connection.settings_dict["NAME"]))
        connections.close_all()
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        spec = {"cluster": cluster, "code": {"inline": "print('hello')"}, "replicas": 2, "tags": {"a": "b"}}
        body = json.dumps(spec).encode()
        ours: list[float] = []
        bare: list[float] = []
        for warm in (True, False):
            for _ in range(1 if warm else SLICES):
                span = 1.0 if warm else SECONDS / SLICES
                jobs = load(port, "/api/v1/jobs", headers, body, span)
                rows = load(port, "/bare", headers, body, span)
                if not warm:
                    ours, bare = ours + jobs, bare + rows
        ours.sort()
        p50, p99 = ours[len(ours) // 2], ours[int(len(ours) * 0.99)]
        print(
            f"P1 {len(ours) / len(bare):.2f} {len(ours) / SECONDS:.0f} jobs/s against"
            f" {len(bare) / SECONDS:.0f} bare inserts/s, {CLIENTS} clients;"
            f" p50 {p50 * 1000:.0f} ms, p99 {p99 * 1000:.0f} ms (p99/p50 {p99 / p50:.1f})"
        )
    finally:
        if child is not None:
            child.send_signal(signal.SIGTERM)
            child.wait(30)
        teardown_databases(databases, verbosity=0)


if __name__ == "__main__":
    services.start()
    try:
        main()
    finally:
        services.stop()
