"""Collecting the log of a run: what a replica printed becomes blocks, points and progress, each line once.

The cursor of a stream moves in the transaction that writes its block; a collector that was killed between
the two reads the same lines again and writes them under the same key.
"""

import logging
import time
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db import DataError, transaction

from clusters.services import ports
from core import dispatch
from jobs import logblocks, logparse, states
from jobs.models import Job, LogBlock, LogStream, MetricPoint, Run
from jobs.services import checkpoints, places, pruning
from jobs.storage import StorageError
from k8s import errors
from k8s.port import Port
from k8s.types import LogChunk

logger = logging.getLogger(__name__)
CHUNK_BYTES = 256 * 1024
CHUNKS_A_PASS = 16
SCAN_EVERY, SCAN_AT_LEAST = timedelta(seconds=2), timedelta(minutes=5)
SCAN_SHARE = 10  # looking for checkpoints takes at most this part of a collector's time
GIVE_UP = timedelta(minutes=2)  # after the end, for a pod that nobody can read any more
NAME_MOST = 40
MASTER = "master-0"


@dataclass(slots=True)
class Memory:
    """What a collector remembers to save work; losing it costs nothing else."""

    next_scan: dict[str, datetime] = field(default_factory=dict)
    begun: set[str] = field(default_factory=set)

    def keep_only(self, runs: set[str]) -> None:
        """Forget runs that are collected."""
        self.begun &= runs
        for gone in self.next_scan.keys() - runs:
            del self.next_scan[gone]

    def scanned(self, run: str, *, now: datetime, seconds: float) -> None:
        """Note what a look into a run's folder cost: the dearer all of them are, the rarer each one is."""
        wait = timedelta(seconds=min(seconds * SCAN_SHARE * len(self.begun), SCAN_AT_LEAST.total_seconds()))
        self.next_scan[run] = now + max(wait, SCAN_EVERY)


def collect(run: Run, *, memory: Memory, now: datetime) -> bool:
    """Read what is new of one run; say whether there was anything. ``run`` brings job, cluster, site."""
    port = ports.port(run.cluster.site)
    if run.pk not in memory.begun:
        _begin(run)
        memory.begun.add(run.pk)
    news = False
    open_streams = list(LogStream.objects.filter(run=run, complete=False))
    for stream in open_streams:
        news = _follow(port, run, stream, now) or news
    if now >= memory.next_scan.get(run.pk, now):
        begun = time.monotonic()
        try:
            _register(run, now)
        finally:
            memory.scanned(run.pk, now=now, seconds=time.monotonic() - begun)
    if run.status in states.RUN.final and all(stream.complete for stream in open_streams):
        _complete(run, now)
    return news


def replica_names(replicas: int) -> list[str]:
    """Return the names of a gang's replicas in the order of their ranks."""
    return [MASTER, *(f"worker-{index}" for index in range(replicas - 1))]


def _begin(run: Run) -> None:
    rows = [LogStream(run=run, replica=name) for name in replica_names(run.job.replicas)]
    LogStream.objects.bulk_create(rows, ignore_conflicts=True)


def _follow(port: Port, run: Run, stream: LogStream, now: datetime) -> bool:
    """Read a replica up to now, or as much as one pass takes."""
    news = False
    for _ in range(CHUNKS_A_PASS):
        try:
            chunk = port.read_log(
                run.cluster.object_name,
                f"{run.object_name}-{stream.replica}",
                cursor=stream.cursor or None,
                limit_bytes=CHUNK_BYTES,
            )
        except errors.NotFound:
            # Not there yet, or gone before anybody looked; only after the end is that final.
            if run.finished_at is not None:
                _finish(stream)
            return news
        if chunk.lines:
            news = True
            if not _store(run, stream, chunk):
                return news
        if chunk.eof:
            if stream.replica == MASTER and chunk.exit_code is not None:
                _note_exit(run, chunk.exit_code)
            _finish(stream)
            return news
        if not chunk.lines:
            break
    if run.finished_at is not None and now > run.finished_at + GIVE_UP:
        _finish(stream)
    return news


def _store(run: Run, stream: LogStream, chunk: LogChunk) -> bool:
    """Write the lines of a chunk; False when another collector has the stream."""
    added = logblocks.encode(chunk.lines)
    tail = LogBlock.objects.filter(stream=stream).order_by("-first").first()
    merged = tail if tail is not None and tail.bytes + len(added) <= logblocks.FULL_BYTES else None
    first = merged.first if merged else stream.lines + 1
    total = stream.lines + len(chunk.lines)
    blobs = places.ours()
    data = blobs.read_small(merged.key, logblocks.FULL_BYTES) + added if merged else added
    key = f"logs/{run.pk}/{stream.replica}/{first:012d}-{total:012d}"
    blobs.write(key, data)
    parser = logparse.Parser(stream.parser)
    points = []
    for place, line in enumerate(chunk.lines, start=stream.lines + 1):
        points += parser.feed(place, line.time, line.text)
    block = {
        "lines": total - first + 1,
        "bytes": len(data),
        "key": key,
        "last_at": chunk.lines[-1].time,
    }
    with transaction.atomic():
        moved = LogStream.objects.filter(pk=stream.pk, cursor=stream.cursor, complete=False).update(
            cursor=chunk.cursor, lines=total, parser=parser.state
        )
        if not moved:
            return False
        if merged:
            LogBlock.objects.filter(pk=merged.pk).update(**block)
        else:
            LogBlock.objects.create(stream=stream, first=first, first_at=chunk.lines[0].time, **block)
        _store_points(run, points, parser.progress)
    if merged and merged.key != key:
        blobs.delete(merged.key)
    stream.cursor, stream.lines, stream.parser = chunk.cursor, total, parser.state
    return True


def _store_points(run: Run, points: list[logparse.Point], progress: logparse.Progress | None) -> None:
    """Write points (a step of a curve once, whichever replica showed it first) and the job's progress."""
    MetricPoint.objects.bulk_create(
        [
            MetricPoint(
                run=run, name=point.name[:NAME_MOST], step=point.step, at=point.time, value=point.value
            )
            for point in points
        ],
        ignore_conflicts=True,
    )
    if points and progress is not None:
        total = {"total_steps": progress.total} if progress.total else {}
        # the rest of an earlier run's log may come when a later one has begun
        newest = Job.objects.filter(pk=run.job_id).exclude(runs__number__gt=run.number)
        newest.update(step=progress.step, **total)


def _note_exit(run: Run, exit_code: int) -> None:
    """Note how a run ended that Berth stopped: its pods go as soon as they have ended, unseen by a watch."""
    Run.objects.filter(pk=run.pk, exit_code=None).exclude(stop="").update(exit_code=exit_code)


def _finish(stream: LogStream) -> None:
    LogStream.objects.filter(pk=stream.pk).update(complete=True)
    stream.complete = True


def _register(run: Run, now: datetime) -> None:
    """Bring a run's checkpoints to the registry, and mark those that its job keeps no longer."""
    seen = checkpoints.scan(run, now=now)
    pruning.choose(run, seen=seen, now=now)


def _complete(run: Run, now: datetime) -> None:
    """Note that all of a run is in our storage: now its object may go."""
    try:
        _register(run, now)
    except (StorageError, DataError) as error:
        if now <= (run.finished_at or now) + GIVE_UP:
            raise
        logger.warning("checkpoints given up", extra={"run": run.pk, "error": str(error)})
    Run.objects.filter(pk=run.pk).update(collected=True)
    if Run.objects.filter(pk=run.pk, due_at__isnull=False).update(due_at=now):
        dispatch.after_commit("jobs.step", run.pk)
