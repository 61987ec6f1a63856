"""Public ids: a prefix and 26 sortable lower-case base32 characters, used as primary keys."""

import secrets
import threading
import time
from collections.abc import Sequence
from typing import Any

from django.db import models

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
BODY_LENGTH = 26
_RANDOM_BITS = 80
_SHIFTS = range(5 * (BODY_LENGTH - 1), -1, -5)
_lock = threading.Lock()
_last = (0, 0)


def new(prefix: str) -> str:
    """Return a fresh id such as ``run_01k…``; ids made later in one process sort later.

    48 bits of milliseconds and 80 random bits (the ULID layout, github.com/ulid/spec).
    """
    return f"{prefix}_{_encode(_next_number())}"


def object_name(public_id: str) -> str:
    """Return the Kubernetes object name of an id: ``run_01k…`` becomes ``run-01k…`` (DNS-1035)."""
    return public_id.replace("_", "-")


def public_id(object_name: str) -> str:
    """Return the id of a Kubernetes object name, the inverse of :func:`object_name`."""
    return object_name.replace("-", "_", 1)


def _next_number() -> int:
    global _last
    with _lock:
        millis = time.time_ns() // 1_000_000
        tail = secrets.randbits(_RANDOM_BITS)
        if millis <= _last[0]:
            millis, tail = _last[0], _last[1] + 1 + secrets.randbits(32)
            if tail >> _RANDOM_BITS:
                millis, tail = millis + 1, secrets.randbits(_RANDOM_BITS)
        _last = (millis, tail)
        return (millis << _RANDOM_BITS) | tail


def _encode(number: int) -> str:
    return "".join([ALPHABET[number >> shift & 31] for shift in _SHIFTS])


class PublicIdField(models.CharField):
    """A primary key that makes its own public id."""

    def __init__(self, prefix: str, **kwargs: Any) -> None:
        self.prefix = prefix
        kwargs.setdefault("max_length", len(prefix) + 1 + BODY_LENGTH)
        kwargs.update(primary_key=True, editable=False, default=self._make)
        super().__init__(**kwargs)

    def db_type(self, connection: Any) -> str:
        """Return the type under its long name: by `varchar` Django would add a second index for LIKE."""
        return f"character varying({self.max_length})"

    def _make(self) -> str:
        return new(self.prefix)

    def deconstruct(self) -> tuple[str, str, Sequence[Any], dict[str, Any]]:
        name, path, args, kwargs = super().deconstruct()
        for key in ("primary_key", "editable", "default"):
            kwargs.pop(key, None)
        kwargs["prefix"] = self.prefix
        return name, path, args, kwargs
