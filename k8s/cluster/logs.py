"""The log of a pod in steps: a cursor that never loses or repeats a line, though the API has no offsets.

The API filters by whole seconds and cuts by bytes. A cursor says from which second on, how many bytes of
that answer are done, and their checksum; if the site has thrown old lines away, times tell what is new.
"""

import base64
import json
import zlib
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta

from k8s import convert, errors
from k8s.types import LogLine

MAX_PIECE = 16 * 1024
DISORDER = timedelta(milliseconds=100)  # two streams of one container may be stamped in the wrong order


@dataclass(frozen=True, slots=True)
class Cursor:
    """Which container, since which second, bytes done of what came since, and the last stamp done."""

    container: str = ""
    since: str = ""
    done: int = 0
    check: int = 0
    last: str = ""

    def text(self) -> str:
        return base64.urlsafe_b64encode(json.dumps(list(asdict(self).values())).encode()).decode()


@dataclass(frozen=True, slots=True)
class Step:
    """What one answer gave; `all_read`: nothing but an unfinished line is left in it."""

    lines: tuple[LogLine, ...]
    cursor: Cursor
    all_read: bool
    gap: bool = False


def parse(text: str | None) -> Cursor:
    """Return a cursor from its text; raises Refused for anything else."""
    if text is None:
        return Cursor()
    try:
        container, since, done, check, last = json.loads(base64.urlsafe_b64decode(text))
        cursor = Cursor(str(container), str(since), int(done), int(check), str(last))
    except (ValueError, TypeError) as error:
        raise errors.Refused("This is not a cursor of a log.") from error
    return cursor


def step(data: bytes, cursor: Cursor, *, limit_bytes: int, truncated: bool, ended: bool) -> Step:
    """Cut an answer to `since` of the cursor into lines; pure.

    `truncated`: the server had more than we asked for. `ended`: no byte will follow after this answer,
    so its last line is whole even without a newline.
    """
    start, gap = _start(data, cursor)
    lines: list[LogLine] = []
    position, taken = start, 0
    stamp = convert.parse_time(cursor.last) if _mid_line(data, start) else None
    last = cursor.last
    while position < len(data) and not (lines and taken >= limit_bytes):
        newline = data.find(b"\n", position)
        end = newline if newline >= 0 else len(data)
        head = position
        if stamp is None:
            last, head = _head(data, position, end, last)
            stamp = convert.parse_time(last)
        if stamp is None:
            stamp = datetime.fromtimestamp(0, UTC)
        if end - head > MAX_PIECE:
            cut = _boundary(data, head + MAX_PIECE)
            lines.append(LogLine(stamp, data[head:cut].decode("utf-8", "replace"), True))
            position = cut
        elif newline >= 0 or (ended and not truncated and end > head):
            lines.append(LogLine(stamp, data[head:end].decode("utf-8", "replace")))
            position, stamp = min(end + 1, len(data)), None
        else:
            break
        taken += len(lines[-1].text)
    unfinished = b"\n" not in data[position:] and not ended
    all_read = not truncated and (position >= len(data) or unfinished)
    return Step(tuple(lines), _advance(data, position, cursor, last), all_read, gap)


def _start(data: bytes, cursor: Cursor) -> tuple[int, bool]:
    """Return where the new bytes begin, and whether some in between were lost."""
    if zlib.crc32(data[: cursor.done]) == cursor.check and len(data) >= cursor.done:
        return cursor.done, False
    after = convert.parse_time(cursor.last)
    position = 0
    while after is not None and position < len(data):
        stamp = convert.parse_time(_head(data, position, len(data), "")[0])
        if stamp is not None and stamp > after:
            break
        newline = data.find(b"\n", position)
        position = newline + 1 if newline >= 0 else len(data)
    return position, True


def _advance(data: bytes, position: int, cursor: Cursor, last: str) -> Cursor:
    """Move `since` to the second of the last line, so that the next answer is short."""
    time = convert.parse_time(last)
    if time is None:
        return Cursor(cursor.container, cursor.since, position, zlib.crc32(data[:position]), last)
    floor = (time - DISORDER).replace(microsecond=0)
    since = floor.strftime("%Y-%m-%dT%H:%M:%SZ")
    if cursor.since and floor <= (convert.parse_time(cursor.since) or floor):
        return Cursor(cursor.container, cursor.since, position, zlib.crc32(data[:position]), last)
    kept = bytearray()
    at = 0
    while at < position:
        newline = data.find(b"\n", at, position)
        end = newline + 1 if newline >= 0 else position
        stamp = convert.parse_time(_head(data, at, end, "")[0])
        if stamp is not None and stamp >= floor:
            kept += data[at:end]
        at = end
    return Cursor(cursor.container, since, len(kept), zlib.crc32(bytes(kept)), last)


def _head(data: bytes, position: int, end: int, otherwise: str) -> tuple[str, int]:
    """Return the stamp at the head of a line and where its text begins."""
    space = data.find(b" ", position, min(end, position + 64))
    if space < 0:
        text, after = data[position : min(end, position + 64)], min(end, position + 64)
    else:
        text, after = data[position:space], space + 1
    try:
        stamp = text.decode("ascii")
        convert.parse_time(stamp)
    except ValueError:
        return otherwise, position
    return (stamp, after) if stamp else (otherwise, position)


def _mid_line(data: bytes, start: int) -> bool:
    return start > 0 and data[start - 1 : start] != b"\n"


def _boundary(data: bytes, cut: int) -> int:
    """Move a cut back so that it does not split a UTF-8 character."""
    for back in range(4):
        if data[cut - back] & 0xC0 != 0x80:
            return cut - back
    return cut
