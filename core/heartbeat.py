"""Signs of life of processes that answer no requests: a time in Redis under ``berth:heartbeat:<name>``.

Where ``HEARTBEAT_DIR`` names a folder, a file in it says the same of this very process, also while Redis is
away; `core/alive.py` asks it.
"""

import logging
import math
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

import redis
from django.conf import settings

KEEP_SECONDS = 3600
logger = logging.getLogger(__name__)


@cache
def _client() -> redis.Redis:
    return redis.Redis.from_url(settings.REDIS_URL, socket_timeout=2, socket_connect_timeout=2)


def beat(name: str) -> bool:
    """Say that a process lives; False when Redis is away, which must not stop the process."""
    sign(name)
    try:
        _client().set(_key(name), repr(time.time()), ex=KEEP_SECONDS)
    except redis.RedisError as error:
        logger.warning("heartbeat not written", extra={"sign": name, "error": str(error)})
        return False
    return True


def sign(name: str) -> None:
    """Say to this machine alone that the process lives; a full disk must not stop it."""
    if settings.HEARTBEAT_DIR:
        try:
            (Path(settings.HEARTBEAT_DIR) / name).touch()
        except OSError as error:
            logger.warning("heartbeat not written", extra={"sign": name, "error": str(error)})


def pulse(name: str, seconds: float = 5) -> Callable[[], None]:
    """Return a function for a busy loop: it beats, but not more often than every so many seconds."""
    last = -math.inf

    def tell() -> None:
        nonlocal last
        if time.monotonic() - last >= seconds:
            last = time.monotonic()
            beat(name)

    return tell


def age(name: str) -> float | None:
    """Return the seconds since the last beat, None when there was none; raises redis.RedisError."""
    raw = _client().get(_key(name))
    return None if raw is None else max(0.0, time.time() - float(raw))


def _key(name: str) -> str:
    return f"berth:heartbeat:{name}"
