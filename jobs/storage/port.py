"""The storage port: what Berth needs of a place for files, and its errors. Keys never leave the root."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import BinaryIO, Protocol

from jobs.listing import Item

KEY_MAX_BYTES = 1024
PART_MAX_BYTES = 255


class StorageError(Exception):
    """The store did not do it; ``retryable`` says whether trying again makes sense."""

    def __init__(self, text: str, *, retryable: bool) -> None:
        super().__init__(text)
        self.retryable = retryable


class NotThere(StorageError):
    """There is no such file."""

    def __init__(self, key: str) -> None:
        super().__init__(f"there is no file {key!r}", retryable=False)


class BadKey(StorageError):
    """A key that could lead out of the root, or that a store cannot hold."""

    def __init__(self, key: str) -> None:
        super().__init__(f"not a key: {key[:200]!r}", retryable=False)


class Storage(Protocol):
    """A tree of files. All methods raise StorageError, BadKey for a key that :func:`parts` refuses."""

    def at(self, prefix: str) -> "Storage":
        """Return the store whose root is a folder of this one."""
        ...

    def list(self, prefix: str = "") -> Iterator[Item]:
        """Yield every file below a folder, nothing if there is none; keys count from this store's root."""
        ...

    def stat(self, key: str) -> Item | None:
        """Return what a listing would say of one file, None if it is not there."""
        ...

    def exists(self, key: str) -> bool:
        """Say whether there is such a file (not: folder)."""
        ...

    def read_small(self, key: str, limit: int) -> bytes:
        """Return a file, of a larger one its last ``limit`` bytes; raises NotThere."""
        ...

    def read_range(self, key: str, start: int, length: int) -> bytes:
        """Return up to ``length`` bytes from ``start``, fewer or none at the end; raises NotThere."""
        ...

    def open_read(self, key: str) -> BinaryIO:
        """Open a file for reading from its start; the caller closes it. Raises NotThere."""
        ...

    def write(self, key: str, data: bytes) -> None:
        """Write a whole file at once: readers see the old one or the new one."""
        ...

    def open_write(self, key: str) -> AbstractContextManager[BinaryIO]:
        """Write a file piece by piece; it appears when the block ends, and not at all if the block raises."""
        ...

    def delete(self, prefix: str) -> int:
        """Delete the file of this key and all files below it as a folder; return how many there were."""
        ...

    def presign(self, key: str, seconds: int) -> str | None:
        """Return an address that reads this one file for a while, None where the store has none."""
        ...


def parts(key: str, *, folder: bool = False) -> tuple[str, ...]:
    """Return the parts of a key; raises BadKey. With ``folder`` the root ('') and a last slash are fine."""
    text = key.removesuffix("/") if folder else key
    if not text and folder:
        return ()
    pieces = tuple(text.split("/"))
    if any(piece in ("", ".", "..") or "\0" in piece or "\\" in piece for piece in pieces):
        raise BadKey(key)
    try:
        sizes = [len(piece.encode()) for piece in pieces]
    except UnicodeEncodeError as error:
        raise BadKey(key) from error
    if max(sizes) > PART_MAX_BYTES or sum(sizes) + len(sizes) > KEY_MAX_BYTES:
        raise BadKey(key)
    return pieces
