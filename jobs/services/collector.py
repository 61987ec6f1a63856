"""The loop that collects what runs print and save, a pass a second, until told to stop.

Several processes share the runs by their ids: each has a shard. Two with the same shard only waste work.
"""

import logging
import threading
import time
import zlib
from collections.abc import Callable

from django.db import Error as DatabaseError
from django.db import InterfaceError, OperationalError, close_old_connections
from django.utils import timezone

from core import errors as core_errors
from core import heartbeat
from jobs.models import Run
from jobs.services import collect
from jobs.storage import StorageError
from k8s import errors

logger = logging.getLogger(__name__)
HEARTBEAT = "collector"
EVERY_SECONDS = 0.7


def run(stop: threading.Event, *, shard: int = 0, shards: int = 1) -> None:
    """Collect a shard until told to stop; a fault of one run does not hold up the others."""
    memory = collect.Memory()
    alive = heartbeat.pulse(HEARTBEAT)
    while not stop.is_set():
        begun = time.monotonic()
        try:
            once(memory, shard=shard, shards=shards, alive=alive)
        except DatabaseError as error:
            logger.warning("collecting broke", extra={"error": str(error)})
        alive()
        close_old_connections()
        stop.wait(max(0.05, EVERY_SECONDS - (time.monotonic() - begun)))


def once(
    memory: collect.Memory, *, shard: int = 0, shards: int = 1, alive: Callable[[], None] = lambda: None
) -> int:
    """Read what is new of every run of a shard that is not collected yet; return how many had news.

    ``alive`` is called before each run: a pass over thousands of runs takes longer than silence may last.
    """
    rows = Run.objects.filter(collected=False, launched_at__isnull=False).order_by("id")
    if shards > 1:
        rows = rows.filter(pk__in=[pk for pk in rows.values_list("pk", flat=True) if of(pk, shards) == shard])
    news = 0
    for row in rows.select_related("job", "cluster__site", "resume_from"):
        alive()
        try:
            news += collect.collect(row, memory=memory, now=timezone.now())
        except (errors.Error, core_errors.Unavailable, StorageError) as error:
            logger.warning("run not collected", extra={"run": row.pk, "error": str(error)})
        except (OperationalError, InterfaceError):
            raise  # the database is away: so it is for all
        except Exception:
            # Customers decide what is read here: what one of them found must not stop all others' logs.
            logger.exception("collecting a run broke", extra={"run": row.pk})
    memory.keep_only({row.pk for row in rows})
    return news


def of(run: str, shards: int) -> int:
    """Return the shard of a run; ids grow with time, so their sum is taken, not their end."""
    return zlib.crc32(run.encode()) % shards
