"""A PostgreSQL of this installation: making its cluster, the command that serves it, waiting for it."""

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import psycopg

from portal.local import binaries, osuser
from portal.local.errors import CannotRun

USER = "berth"
DATABASE = "berth"
MADE = "berth-initdb-done"  # written last: a folder without it is a half-written one


def environment() -> dict[str, str]:
    """Return the little environment that a server gets."""
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}


def initialise(folder: Path, password: str, *, durable: bool = True) -> None:
    """Make a new cluster in ``folder``; a half-written one from an interrupted start is made again."""
    if (folder / MADE).exists():
        return
    if folder.exists():
        shutil.rmtree(folder)
    user = osuser.for_services()
    folder.mkdir(mode=0o700)
    osuser.give(folder, user)
    secret = folder.parent / f".{folder.name}-password"
    try:
        secret.touch(mode=0o600)
        osuser.give(secret, user)
        secret.write_text(password)
        made = subprocess.run(
            [
                str(binaries.postgres() / "initdb"),
                *("--pgdata", str(folder), "--username", USER, "--pwfile", str(secret)),
                *("--auth", "scram-sha-256", "--encoding", "UTF8", "--locale", "C", "--no-instructions"),
                *("--locale-provider", "builtin", "--builtin-locale", "C.UTF-8"),
                *([] if durable else ["--no-sync"]),
            ],
            env=environment(),
            cwd="/",
            capture_output=True,
            text=True,
            check=False,
            start_new_session=True,
            user=user.uid if user else None,
            group=user.gid if user else None,
            extra_groups=[] if user else None,
        )
    finally:
        secret.unlink(missing_ok=True)
    if made.returncode:
        raise CannotRun(f"PostgreSQL could not make its data folder {folder}: {_last(made.stderr)}")
    (folder / MADE).write_text(binaries.postgres_major())


def command(folder: Path, port: int, *, durable: bool = True) -> list[str]:
    """Return the command that serves the cluster in the foreground, on the loopback address only."""
    options = {
        "listen_addresses": "127.0.0.1",
        "port": str(port),
        "unix_socket_directories": "",
        "timezone": "UTC",
        "log_timezone": "UTC",
        "max_connections": "100",
        "shared_buffers": "128MB",
        "log_min_messages": "warning",
    }
    if not durable:
        options |= {
            "fsync": "off",
            "synchronous_commit": "off",
            "full_page_writes": "off",
            "autovacuum": "off",
            "max_connections": "300",
            "log_min_messages": "fatal",
        }
    settings = [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
    return [str(binaries.postgres() / "postgres"), "-D", str(folder), *settings]


def url(port: int, password: str, database: str = DATABASE) -> str:
    """Return the address of the server as a URL."""
    return f"postgresql://{USER}:{password}@127.0.0.1:{port}/{database}"


def wait(port: int, password: str, *, alive: Callable[[], bool], seconds: float = 60) -> None:
    """Wait until the server answers, then make the database if it is new."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            with psycopg.connect(url(port, password, "postgres"), autocommit=True, connect_timeout=5) as db:
                found = db.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone()
                if found is None:
                    db.execute(f"CREATE DATABASE {DATABASE}")
                return
        except psycopg.OperationalError as error:
            if "password authentication failed" in str(error):
                raise CannotRun(
                    "PostgreSQL does not accept the password kept in this data folder."
                ) from error
            if not alive():
                raise CannotRun("PostgreSQL ended while starting; its last lines say why.") from error
            if time.monotonic() > deadline:
                raise CannotRun(f"PostgreSQL did not answer within {seconds:.0f} seconds.") from error
            time.sleep(0.03)


def _last(output: str) -> str:
    lines = [line for line in output.splitlines() if line.strip()]
    return lines[-1] if lines else "no reason given"
