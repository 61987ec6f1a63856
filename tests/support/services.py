"""Real PostgreSQL and Redis for the tests, started once per run, on ports that the system picks."""

import json
import os
import subprocess
import sys
from pathlib import Path

_keeper: subprocess.Popen[str] | None = None


def start() -> None:
    """Start the services and put their addresses into the environment, unless addresses are given there.

    ``BERTH_DATA`` becomes a folder of this run, so that tests never see a portal that runs beside them.
    """
    global _keeper
    if os.environ.get("DATABASE_URL") and os.environ.get("REDIS_URL"):
        return
    _keeper = subprocess.Popen(
        [sys.executable, "-m", "tests.support.keeper"],
        cwd=Path(__file__).resolve().parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert _keeper.stdout is not None
    line = _keeper.stdout.readline()
    if not line:
        raise RuntimeError("PostgreSQL and Redis for the tests did not start; the lines above say why.")
    os.environ.update(json.loads(line))


def stop() -> None:
    """End the services and wait until they are gone."""
    global _keeper
    if _keeper is not None:
        _keeper.communicate()
        _keeper = None


def use_own(worker: str) -> None:
    """Give a parallel worker (``gw3``) a Redis database and a data folder of its own."""
    base, _, _ = os.environ["REDIS_URL"].rpartition("/")
    os.environ["REDIS_URL"] = f"{base}/{int(worker.removeprefix('gw')) + 1}"
    if data := os.environ.get("BERTH_DATA"):
        own = Path(data) / worker
        own.mkdir(mode=0o711, exist_ok=True)
        os.environ["BERTH_DATA"] = str(own)
