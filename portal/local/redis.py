"""A Redis of this installation: its configuration, the command that serves it, waiting for it."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import redis

from portal.local import binaries, osuser
from portal.local.errors import CannotRun


def configure(folder: Path, port: int, password: str, *, durable: bool = True) -> Path:
    """Write the configuration (mode 600: it holds the password) and return its path."""
    user = osuser.for_services()
    folder.mkdir(mode=0o700, exist_ok=True)
    osuser.give(folder, user)
    file = folder / "redis.conf"
    file.touch(mode=0o600)
    osuser.give(file, user)
    file.write_text(
        "\n".join(
            [
                "bind 127.0.0.1",
                f"port {port}",
                f"requirepass {password}",
                f'dir "{folder}"',
                "databases 64",
                "loglevel warning",
                "appendonly no",
                "save 60 1" if durable else 'save ""',
                "",
            ]
        )
    )
    return file


def command(configuration: Path) -> list[str]:
    """Return the command that serves Redis in the foreground."""
    return [str(binaries.redis()), str(configuration)]


def url(port: int, password: str, database: int = 0) -> str:
    """Return the address of the server as a URL."""
    return f"redis://:{password}@127.0.0.1:{port}/{database}"


def wait(port: int, password: str, *, alive: Callable[[], bool], seconds: float = 30) -> None:
    """Wait until the server answers."""
    deadline = time.monotonic() + seconds
    client = redis.Redis(host="127.0.0.1", port=port, password=password, socket_timeout=5)
    try:
        while True:
            try:
                client.ping()
                return
            except redis.exceptions.ConnectionError as error:
                if not alive():
                    raise CannotRun("Redis ended while starting; its last lines say why.") from error
                if time.monotonic() > deadline:
                    raise CannotRun(f"Redis did not answer within {seconds:.0f} seconds.") from error
                time.sleep(0.03)
    finally:
        client.close()


def environment() -> dict[str, str]:
    """Return the little environment that a server gets."""
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}
