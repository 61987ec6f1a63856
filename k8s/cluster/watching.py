"""A watch as a stream of our events, which ends by itself and never hangs."""

import json
import math
import time
from collections.abc import Callable, Iterator
from typing import Any, cast

from k8s import convert, errors
from k8s.cluster import failures, resources
from k8s.cluster.client import Client, Silence
from k8s.types import EventType, WatchEvent

LEAST_SECONDS = 0.5  # a busy server needs a moment to answer at all
SILENCE_SECONDS = 90.0  # servers send a bookmark each minute


def pytorchjobs(
    client: Client,
    resource_version: str,
    *,
    timeout: float,
    silence: float = SILENCE_SECONDS,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[WatchEvent]:
    """Yield what happened after a resource version; the last event is a bookmark at the end of it.

    Raises Gone for a version that is too old, Unavailable when the server says nothing for `silence`
    seconds, not even a bookmark.
    """
    deadline, seen = clock() + timeout, resource_version
    query: dict[str, str | int | None] = {
        "watch": "true",
        "allowWatchBookmarks": "true",
        "resourceVersion": resource_version,
        "timeoutSeconds": max(1, math.ceil(timeout)),
    }
    lines = client.lines(resources.JOBS, query=query, silence=min(silence, max(timeout, LEAST_SECONDS)))
    try:
        for line in lines:
            event = _event(line)
            seen = event.resource_version
            yield event
            if clock() >= deadline:
                break
    except Silence as error:
        if clock() < deadline:
            raise errors.Unavailable("The site has gone silent in the middle of a watch.") from error
    finally:
        cast("Any", lines).close()
    yield WatchEvent("bookmark", seen)


def _event(line: bytes) -> WatchEvent:
    try:
        raw = json.loads(line)
        kind, obj = raw["type"], raw["object"]
    except (ValueError, LookupError, TypeError) as error:
        raise errors.Unavailable("The site sent a broken event in a watch.") from error
    if kind == "ERROR":
        raise failures.from_event(obj)
    version = obj["metadata"]["resourceVersion"]
    if kind == "BOOKMARK":
        return WatchEvent("bookmark", version)
    return WatchEvent(cast("EventType", kind.lower()), version, convert.pytorchjob(obj))
