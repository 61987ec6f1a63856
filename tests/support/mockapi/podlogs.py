"""Logs of containers, filtered and cut as the kubelet does: by whole seconds and by bytes."""

import threading
from dataclasses import dataclass
from datetime import UTC, datetime

Key = tuple[str, str, str]  # namespace, pod, container


@dataclass
class Line:
    """A line with the time of its first byte; `whole` once its newline was written."""

    stamp: str
    text: bytes
    whole: bool


class Logs:
    """What all containers have written."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self._lines: dict[Key, list[Line]] = {}

    def write(self, key: Key, data: bytes, stamp: str | None = None) -> None:
        """Append bytes that were written at one time (RFC 3339 with nanoseconds)."""
        stamp = stamp or datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f000Z")
        with self.changed:
            lines = self._lines.setdefault(key, [])
            for piece in _split(data):
                whole = piece.endswith(b"\n")
                if lines and not lines[-1].whole:
                    lines[-1].text += piece
                    lines[-1].whole = whole
                else:
                    lines.append(Line(stamp, piece, whole))
            self.changed.notify_all()

    def rotate(self, key: Key, keep: int) -> None:
        """Throw away all lines but the last few, as the kubelet does with big logs."""
        with self.changed:
            self._lines[key] = self._lines[key][-keep:] if keep else []

    def read(
        self,
        key: Key,
        *,
        since: str = "",
        stamps: bool = False,
        limit: int | None = None,
        tail: int | None = None,
    ) -> bytes:
        with self.changed:
            lines = list(self._lines.get(key, ()))
        if tail is not None:
            lines = lines[-tail:] if tail else []
        if since:
            floor = datetime.fromisoformat(since.replace("Z", "+00:00")).replace(microsecond=0)
            lines = [line for line in lines if _time(line.stamp) >= floor]
        out = b"".join((line.stamp.encode() + b" " if stamps else b"") + line.text for line in lines)
        return out[:limit]


def _split(data: bytes) -> list[bytes]:
    parts = data.split(b"\n")
    return [part + b"\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _time(stamp: str) -> datetime:
    return datetime.fromisoformat(stamp[:26].rstrip("Z").ljust(26, "0") + "+00:00")
