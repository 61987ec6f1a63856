"""Which parts of the portal are up: asked by /readyz, by `make run` and by whoever looks after it."""

from collections.abc import Callable, Collection

import redis
from django.conf import settings
from django.core.cache import cache
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from core import heartbeat

SILENCE_SECONDS = 45  # heartbeats come every ten seconds or more often
_migrated = False


def parts(exclude: Collection[str] = ()) -> dict[str, str]:
    """Return each part that is not excluded with ``up`` or a sentence on what is wrong."""
    asked: dict[str, Callable[[], str]] = {
        "database": _database,
        "migrations": _migrations,
        "redis": _redis,
        "worker": lambda: _heartbeat("worker", "No sign of life from worker and beat"),
        "watcher": lambda: _heartbeat("watcher", "No sign of life from the watcher"),
    }
    if settings.EMBEDDED_SITE:
        asked["embedded"] = lambda: _heartbeat("embedded", "No sign of life from the embedded site")
    found: dict[str, str] = {}
    for name, ask in asked.items():
        if name in exclude:
            continue
        if name == "migrations" and found.get("database", "up") != "up":
            found[name] = "The database cannot be asked."
        elif name not in {"database", "redis", "migrations"} and found.get("redis", "up") != "up":
            found[name] = "Redis cannot be asked."
        else:
            found[name] = ask()
    return found


def _database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return "The database does not answer."
    return "up"


def _migrations() -> str:
    """Say whether every migration is applied; asked until it is so, since that does not change back."""
    global _migrated
    if not _migrated:
        try:
            executor = MigrationExecutor(connection)
            _migrated = not executor.migration_plan(executor.loader.graph.leaf_nodes())
        except DatabaseError:
            return "The database cannot be asked."
    return "up" if _migrated else "Migrations wait: run manage.py migrate."


def _redis() -> str:
    try:
        cache.get("readyz")
    except (redis.RedisError, OSError):
        return "Redis does not answer."
    return "up"


def _heartbeat(name: str, silent: str) -> str:
    try:
        age = heartbeat.age(name)
    except redis.RedisError:
        return "Redis does not answer."
    if age is None:
        return f"{silent} yet."
    return "up" if age <= SILENCE_SECONDS else f"{silent} for {age:.0f} seconds."
