"""The secrets of one installation: made once at random, kept in a file that only its owner can read."""

import json
import os
import secrets
from pathlib import Path
from typing import Any

from portal.local.errors import CannotRun

FILE = "installation.json"
PEOPLE = ("demo@berth.example", "viewer@berth.example", "other@berth.example", "staff@berth.example")
# no letters or digits that look alike
LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"


def load(data: Path) -> dict[str, Any]:
    """Return the secrets of the installation in ``data``; make them at the first start."""
    file = data / FILE
    if file.exists():
        try:
            found: dict[str, Any] = json.loads(file.read_text())
            return found
        except json.JSONDecodeError as error:
            raise CannotRun(
                f"{file} is damaged. It holds the keys of the data beside it: restore it from a copy, "
                f"or move {data} away to begin anew."
            ) from error
    if (data / "postgres" / "PG_VERSION").exists():
        raise CannotRun(
            f"{file} is missing, but {data} holds a database that needs its keys. Restore it from a copy, "
            f"or move {data} away to begin anew."
        )
    made = {
        "secret_key": secrets.token_urlsafe(50),
        "sealing_keys": f"k1:{secrets.token_hex(32)}",
        "metrics_key": secrets.token_urlsafe(24),
        "postgres_password": secrets.token_hex(24),
        "redis_password": secrets.token_hex(24),
        "demo_passwords": {email: password() for email in PEOPLE},
    }
    write(file, made)
    return made


def password() -> str:
    """Return a random password that is easy to type: four groups of four."""
    return "-".join("".join(secrets.choice(LETTERS) for _ in range(4)) for _ in range(4))


def write(file: Path, value: Any) -> None:
    """Write JSON at once or not at all, readable by the owner only."""
    fresh = file.with_name(f".{file.name}.new")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as out:
        json.dump(value, out, indent=1)
    fresh.replace(file)
