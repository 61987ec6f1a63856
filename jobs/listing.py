"""What a listing of storage holds."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, order=True)
class Item:
    """A stored file: its key with ``/`` between folders, its bytes, when it was written (aware UTC)."""

    key: str
    size: int
    modified: datetime
