"""Reads settings from the environment, then from the local services; says in words what is wrong."""

import os
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

from portal.local import discover

_local = discover.services()


def text(name: str, default: str = "") -> str:
    """Return a setting as text: the environment wins, then the local services, then the default."""
    return os.environ.get(name) or _local.get(name) or default


def flag(name: str, default: bool = False) -> bool:
    """Return a setting that is on or off."""
    value = text(name, "1" if default else "0").lower()
    if value not in {"0", "1", "true", "false", "yes", "no", "on", "off"}:
        raise ImproperlyConfigured(f"{name} must be 1 or 0, not {value!r}.")
    return value in {"1", "true", "yes", "on"}


def number(name: str, default: int) -> int:
    """Return a setting that is a whole number."""
    value = text(name, str(default))
    try:
        return int(value)
    except ValueError as error:
        raise ImproperlyConfigured(f"{name} must be a whole number, not {value!r}.") from error


def words(name: str, default: str = "") -> list[str]:
    """Return a setting that is a comma-separated list."""
    return [word.strip() for word in text(name, default).split(",") if word.strip()]


def hosts(name: str) -> list[str]:
    """Return a setting that lists IP addresses, as a Host header writes them: IPv6 in brackets."""
    return [f"[{word}]" if ":" in word else word for word in words(name)]


def database(name: str = "DATABASE_URL") -> dict[str, object]:
    """Return Django's database settings of a ``postgresql://`` URL."""
    url = urlsplit(text(name, "postgresql://berth@127.0.0.1:5432/berth"))
    if url.scheme not in {"postgres", "postgresql"}:
        raise ImproperlyConfigured(f"{name} must start with postgresql://; Berth supports PostgreSQL only.")
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(url.path.lstrip("/")),
        "USER": unquote(url.username or ""),
        "PASSWORD": unquote(url.password or ""),
        "HOST": url.hostname or "",
        "PORT": str(url.port or 5432),
        "CONN_MAX_AGE": number("DATABASE_CONN_MAX_AGE", 60),
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {
            "connect_timeout": 5,
            "application_name": text("BERTH_PROCESS", "berth"),
            # for `core.prepared`; to be off behind a pooler that knows no prepared statements
            "prepare_threshold": 0 if flag("DATABASE_PREPARE", True) else None,
            "options": "-c plan_cache_mode=force_generic_plan",
        },
    }


def keys(name: str) -> dict[str, bytes]:
    """Return sealing keys of ``id:hex,id:hex``; the first seals, all unseal."""
    found: dict[str, bytes] = {}
    for word in words(name):
        key_id, _, body = word.partition(":")
        try:
            key = bytes.fromhex(body)
        except ValueError as error:
            raise ImproperlyConfigured(f"{name}: the key {key_id!r} is not hexadecimal.") from error
        if len(key) != 32:
            raise ImproperlyConfigured(f"{name}: the key {key_id!r} must have 32 bytes (64 hex digits).")
        found[key_id] = key
    return found
