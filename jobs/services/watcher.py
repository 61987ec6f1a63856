"""A thread for each site turns its watch into observations: list, watch with bookmarks, list again."""

import logging
import random
import threading
from datetime import timedelta

from django.db import Error as DatabaseError
from django.db import InterfaceError, OperationalError, close_old_connections
from django.utils import timezone

from clusters.models import Site
from clusters.services import ports
from core import errors as core_errors
from core import heartbeat
from jobs import states
from jobs.models import Run
from jobs.services import observe
from k8s import errors
from k8s.port import Port
from k8s.types import PyTorchJobInfo

logger = logging.getLogger(__name__)
HEARTBEAT = "watcher"
WATCH_SECONDS = 30.0  # then the watch is made anew: one that has gone silent is noticed by then
RELIST = timedelta(minutes=5)
PAUSE_FIRST, PAUSE_MOST = 0.5, 30.0
LOOK_FOR_SITES = 10.0
FRESH = timedelta(seconds=10)  # what was launched later than this before a list may be missing in it
ON_SITE = ("pending", "running")


def run(stop: threading.Event) -> None:
    """Keep a thread for each active site until told to stop; the heartbeat says that this loop lives."""
    threads: dict[str, threading.Thread] = {}
    while True:
        try:
            sites = list(Site.objects.filter(active=True))
        except DatabaseError as error:
            logger.warning("sites not read", extra={"error": str(error)})
            sites = []
        for site in sites:
            thread = threads.get(site.pk)
            if thread is None or not thread.is_alive():
                threads[site.pk] = threading.Thread(
                    target=follow, args=(site, stop), name=f"watch-{site.slug}", daemon=True
                )
                threads[site.pk].start()
        heartbeat.beat(HEARTBEAT)
        close_old_connections()
        if stop.wait(LOOK_FOR_SITES if threads else 1.0):
            break
    for thread in threads.values():
        thread.join(timeout=5)


def follow(site: Site, stop: threading.Event) -> None:
    """Watch one site until told to stop; every fault leads to a new list after a pause that grows."""
    pause = PAUSE_FIRST
    while not stop.is_set():
        try:
            port = ports.port(site)
            version = resync(port, site)
            pause = PAUSE_FIRST
            _watch(port, site, version, stop)
        except errors.Gone:
            continue  # the version is too old: list again at once
        except (errors.Error, core_errors.Unavailable, DatabaseError) as error:
            logger.warning("watch broke", extra={"site": site.slug, "error": str(error)})
            stop.wait(pause * random.uniform(0.5, 1.0))  # noqa: S311
            pause = min(pause * 2, PAUSE_MOST)
        finally:
            close_old_connections()


def resync(port: Port, site: Site) -> str:
    """Bring all objects of a site to the rows, missing ones too; return the version to watch from."""
    begun = timezone.now()
    jobs, version = port.list_pytorchjobs()
    here = {job.name: job for job in jobs}
    rows = Run.objects.filter(status__in=states.RUN_ON_CLUSTER, cluster__site=site)
    for row in rows.select_related("job", "cluster"):
        info = here.get(row.object_name)
        fresh = row.launched_at is None or row.launched_at > begun - FRESH
        if info is not None or (row.status in ON_SITE and not fresh):
            _look(port, row, info)
    return version


def _watch(port: Port, site: Site, version: str, stop: threading.Event) -> None:
    """Follow a site from a version on, a watch after the other, until it is time for a list."""
    until = timezone.now() + RELIST * random.uniform(0.8, 1.2)  # noqa: S311
    while not stop.is_set() and timezone.now() < until:
        for event in port.watch_pytorchjobs(version, timeout=WATCH_SECONDS):
            version = event.resource_version
            if event.job is not None:
                take(port, event.job, gone=event.type == "deleted")
            close_old_connections()
            if stop.is_set():
                return


def take(port: Port, job: PyTorchJobInfo, *, gone: bool = False) -> None:
    """Bring one event of a watch to its run; objects that are none of ours are passed over."""
    run_id = job.name.replace("-", "_", 1)
    row = Run.objects.filter(pk=run_id).select_related("job", "cluster").first()
    if row is None or row.cluster.object_name != job.namespace:
        return
    _look(port, row, None if gone else job)


def _look(port: Port, row: Run, info: PyTorchJobInfo | None) -> None:
    """Bring news to a run; what breaks on one run must not hold up those behind it in the watch."""
    try:
        observe.look(port, row, info, now=timezone.now())
    except (errors.Error, core_errors.Unavailable, OperationalError, InterfaceError):
        raise  # the site or the database is away: list again when it is back
    except Exception:
        logger.exception("looking at a run broke", extra={"run": row.pk})
