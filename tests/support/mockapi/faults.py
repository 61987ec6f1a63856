"""Faults that a test asks for: an answer of a kind, a broken connection, silence."""

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

REASONS = {
    409: "Conflict",
    410: "Expired",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
}


@dataclass
class Fault:
    """What happens to the next `times` requests that match; `after`: the request is carried out first.

    `hang` answers a watch with headers and then nothing at all, until the server is closed.
    """

    do: Literal["answer", "reset", "hang"] = "answer"
    status: int = 500
    method: str = ".*"
    path: str = ".*"
    times: int = 1
    after: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)
    message: str = "injected"


class Faults:
    """The faults that are still to come, and the requests that were seen."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: list[Fault] = []
        self.seen: list[tuple[str, str]] = []

    def add(self, *faults: Fault) -> None:
        with self._lock:
            self._waiting += faults

    def clear(self) -> None:
        with self._lock:
            self._waiting.clear()

    def left(self) -> int:
        """Return how many are still to come."""
        with self._lock:
            return sum(fault.times for fault in self._waiting)

    def take(self, method: str, target: str) -> Fault | None:
        """Note a request and return the fault that meets it."""
        with self._lock:
            self.seen.append((method, target))
            for fault in self._waiting:
                if re.fullmatch(fault.method, method) and re.search(fault.path, target):
                    fault.times -= 1
                    if not fault.times:
                        self._waiting.remove(fault)
                    return fault
        return None
