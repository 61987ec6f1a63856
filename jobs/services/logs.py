"""Reading logs: from a cursor on, or the tail, of one replica or of all in the order of time."""

import base64
import heapq
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from core import errors
from jobs import logblocks, states
from jobs.logblocks import Line
from jobs.models import LogBlock, LogStream, Run
from jobs.services import places
from jobs.storage import NotThere

STREAMS_MOST = 64  # replicas that are merged at once; the others are read one by one
CURSOR_MOST = 20_000
BLOCK_MOST = 1 << 30


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some lines, the cursor that continues, and whether all there will ever be has been given."""

    lines: list[Line] = field(default_factory=list)
    after: str | None = None
    complete: bool = False

    def answer(self) -> dict[str, Any]:
        """Return the chunk as the API shows it."""
        lines = [line.answer() for line in self.lines]
        return {"lines": lines, "after": self.after, "complete": self.complete}


def read(run: Run | None, *, after: str | None, limit: int, replica: str | None = None) -> Chunk:
    """Return up to ``limit`` lines behind a cursor."""
    if run is None:
        return Chunk()
    seen = _read_cursor(after)
    ended = _ended(run)
    streams = _streams(run, replica)
    sources = [_lines_after(stream, seen.get(stream.replica, 0)) for stream in streams]
    lines: list[Line] = []
    for line in heapq.merge(*sources, key=lambda one: (one.time, one.replica)):
        lines.append(line)
        seen[line.replica] = line.n
        if len(lines) >= limit:
            break
    drained = all(seen.get(stream.replica, 0) >= stream.lines for stream in streams)
    return Chunk(lines, _write_cursor(seen), ended and drained)


def tail(run: Run | None, count: int, *, replica: str | None = None) -> Chunk:
    """Return the last lines; it reads the blocks that hold them and no others."""
    if run is None:
        return Chunk()
    ended = _ended(run)
    streams = _streams(run, replica)
    sources = [_last_lines(stream, count) for stream in streams]
    lines = list(heapq.merge(*sources, key=lambda one: (one.time, one.replica)))[-count:]
    seen = {stream.replica: stream.lines for stream in streams}
    return Chunk(lines, _write_cursor(seen), ended)


def replicas(run: Run) -> list[str]:
    """Return the replicas that have a log, in the order of their ranks."""
    names = LogStream.objects.filter(run=run).values_list("replica", flat=True)
    return sorted(names, key=_rank)


def _ended(run: Run) -> bool:
    """Say whether nothing will follow; asked before the lines are read, so that it is never too early."""
    return run.status in states.RUN.final and (run.collected or run.launched_at is None)


def _streams(run: Run, replica: str | None) -> list[LogStream]:
    rows = LogStream.objects.filter(run=run)
    if replica is not None:
        return list(rows.filter(replica=replica[:20]))
    return sorted(rows.filter(lines__gt=0).order_by("pk")[:STREAMS_MOST], key=lambda one: _rank(one.replica))


def _lines_after(stream: LogStream, n: int) -> Iterator[Line]:
    if n >= stream.lines:
        return
    begin = LogBlock.objects.filter(stream=stream, first__lte=n + 1).order_by("-first").first()
    first = begin.first if begin is not None else 0
    for block in LogBlock.objects.filter(stream=stream, first__gte=first).order_by("first").iterator(16):
        for line in logblocks.decode(_fetch(block), replica=stream.replica, first=block.first):
            if line.n > n:
                yield line


def _last_lines(stream: LogStream, count: int) -> list[Line]:
    found: list[Line] = []
    for block in LogBlock.objects.filter(stream=stream).order_by("-first").iterator(4):
        data = logblocks.last(_fetch(block), count - len(found))
        first = block.first + block.lines - data.count(b"\n")
        found[:0] = logblocks.decode(data, replica=stream.replica, first=first)
        if len(found) >= count:
            break
    return found


def _fetch(block: LogBlock) -> bytes:
    """Return a block; one that was merged into a larger one meanwhile is read under its new key."""
    try:
        return places.ours().read_small(block.key, BLOCK_MOST)
    except NotThere:
        block.refresh_from_db()
        return places.ours().read_small(block.key, BLOCK_MOST)


def _rank(replica: str) -> tuple[bool, int]:
    kind, _dash, index = replica.rpartition("-")
    return (kind != "master", int(index) if index.isdecimal() else 0)


def _write_cursor(seen: dict[str, int]) -> str:
    text = json.dumps(seen, separators=(",", ":"), sort_keys=True)
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _read_cursor(cursor: str | None) -> dict[str, int]:
    if not cursor:
        return {}
    try:
        if len(cursor) > CURSOR_MOST:
            raise ValueError(cursor[:10])
        seen = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        if not isinstance(seen, dict) or not all(type(n) is int and 0 <= n < 2**62 for n in seen.values()):
            raise ValueError(cursor[:10])
    except (ValueError, RecursionError) as error:
        raise errors.Invalid.field(
            "after", "invalid_cursor", _("This cursor is not one of ours; start again without it.")
        ) from error
    return dict(seen)
