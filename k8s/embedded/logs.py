"""Reads the log of a pod as its shim wrote it; a cursor is a byte offset, opaque to callers."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from k8s import errors
from k8s.types import LogChunk, LogLine

LONGEST = 64 * 1024  # a stored line with its head is always shorter


def read(path: Path, *, cursor: str | None, limit_bytes: int, ended: bool) -> LogChunk:
    """Return whole lines from the cursor on; `ended` says that nobody will write any more."""
    start = _offset(cursor)
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(start)
            data = file.read(max(limit_bytes, LONGEST))
    except FileNotFoundError:
        return LogChunk((), str(start), ended)
    lines: list[LogLine] = []
    end = taken = 0
    for raw in _whole(data):
        if lines and taken >= limit_bytes:
            break
        lines.append(_line(raw[:-1]))
        end, taken = end + len(raw), taken + len(lines[-1].text)
    return LogChunk(tuple(lines), str(start + end), ended and start + end >= size)


def tail(path: Path, *, limit_bytes: int = 2048, lines: int = 80) -> str:
    """Return the end of a log as text, as a pod's message shows it after a failure."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - LONGEST))
            data = file.read()
    except FileNotFoundError:
        return ""
    texts = []
    for raw in data.split(b"\n")[-lines - 1 : -1]:
        parts = raw.split(b" ", 2)
        if len(parts) == 3 and parts[1] in (b"F", b"P"):
            texts.append(parts[2])
    return b"\n".join(texts)[-limit_bytes:].decode("utf-8", "replace")


def _whole(data: bytes) -> Iterator[bytes]:
    """Yield lines with their newline; what stands after the last one is not finished."""
    start = 0
    while (end := data.find(b"\n", start) + 1) > 0:
        yield data[start:end]
        start = end


def _line(raw: bytes) -> LogLine:
    stamp, flag, text = raw.split(b" ", 2)
    return LogLine(datetime.fromisoformat(stamp.decode()), text.decode("utf-8", "replace"), flag == b"P")


def _offset(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not cursor.isdecimal():
        raise errors.Refused("This is not a cursor of a log.")
    return int(cursor)
