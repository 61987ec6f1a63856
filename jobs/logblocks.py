"""The form of a block of log lines on the storage: ``<time> <text>`` per line, in their order."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core.rest.fields import z
from k8s.types import LogLine

FULL_BYTES = 1024 * 1024  # a block that has reached this is closed


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a replica; ``n`` counts from 1."""

    n: int
    time: datetime
    replica: str
    text: str

    def answer(self) -> dict[str, Any]:
        """Return the line as the API shows it."""
        return {"n": self.n, "time": z(self.time), "replica": self.replica, "text": self.text}


def encode(lines: Iterable[LogLine]) -> bytes:
    """Return the bytes of lines; a line feed inside a text cannot be and would break the count."""
    parts = (f"{line.time.isoformat()} {_one_line(line.text)}\n" for line in lines)
    return "".join(parts).encode("utf-8", "replace")


def decode(data: bytes, *, replica: str, first: int) -> Iterator[Line]:
    """Return the lines of a block, or of whole lines cut out of one."""
    for place, raw in enumerate(data.split(b"\n")[:-1]):
        stamp, _, text = raw.decode("utf-8", "replace").partition(" ")
        yield Line(first + place, datetime.fromisoformat(stamp), replica, text)


def last(data: bytes, count: int) -> bytes:
    """Return the last lines of a block without reading through the others."""
    end = len(data)
    for _ in range(count + 1):
        end = data.rfind(b"\n", 0, end)
        if end < 0:
            return data
    return data[end + 1 :]


def _one_line(text: str) -> str:
    return text.replace("\n", "\\n").replace("\x00", "\ufffd") if "\n" in text or "\x00" in text else text
