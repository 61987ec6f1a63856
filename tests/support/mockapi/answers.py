"""What goes back to a client."""

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass
class Answer:
    """What goes back: bytes at once, or a stream."""

    data: bytes = b""
    code: int = 200
    content_type: str = "application/json"
    stream: Iterator[bytes] | None = None
