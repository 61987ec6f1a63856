"""A folder as a store. Jobs of customers write into it, so no link in it is ever followed.

Every folder on the way is opened relative to its parent without following links: what is checked is used.
"""

import errno
import os
import secrets
import shutil
import stat
from collections.abc import Iterator, MutableSequence, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import BinaryIO

from jobs.listing import Item
from jobs.storage.port import BadKey, NotThere, Storage, StorageError, parts

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK a pipe that somebody put there would hold the reader up.
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_TEMPORARY = ".berth-tmp-"
FOLDERS_MOST = 100_000  # gone through for one listing
TIME_MOST = datetime(2200, 1, 1, tzinfo=UTC).timestamp()


class LocalStore:
    """Files below a folder of this machine; the folder itself is trusted and made at the first write."""

    def __init__(self, root: str, base: tuple[str, ...] = ()) -> None:
        self._root = root
        self._base = base

    def at(self, prefix: str) -> Storage:
        return LocalStore(self._root, self._base + parts(prefix, folder=True))

    def list(self, prefix: str = "") -> Iterator[Item]:
        stack = [parts(prefix, folder=True)]
        for count in range(FOLDERS_MOST):
            if not stack:
                return
            where = stack.pop()
            try:
                # One at a time: a tree with more folders than a process may open must not use them up.
                with _ours(prefix), self._folder(where) as folder:
                    found = self._entries(folder, where, stack)
            except NotThere:
                continue
            except StorageError:
                if count == 0:
                    raise
                continue  # closed to us, or replaced by something else while we looked
            yield from found
        raise StorageError(f"more than {FOLDERS_MOST} folders below {prefix!r}", retryable=False)

    def stat(self, key: str) -> Item | None:
        *folders, name = parts(key)
        try:
            with _ours(key), self._folder(tuple(folders)) as folder:
                found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except NotThere:
            return None
        return _item(key, found) if stat.S_ISREG(found.st_mode) else None

    def exists(self, key: str) -> bool:
        return self.stat(key) is not None

    def read_small(self, key: str, limit: int) -> bytes:
        with _ours(key), self.open_read(key) as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(0, size - limit))
            return file.read(limit)

    def read_range(self, key: str, start: int, length: int) -> bytes:
        with _ours(key), self.open_read(key) as file:
            file.seek(start)
            return file.read(length)

    def open_read(self, key: str) -> BinaryIO:
        *folders, name = parts(key)
        with _ours(key), self._folder(tuple(folders)) as folder:
            file = os.open(name, _READ, dir_fd=folder)
        if not stat.S_ISREG(os.fstat(file).st_mode):
            os.close(file)
            raise NotThere(key)
        return os.fdopen(file, "rb")

    def write(self, key: str, data: bytes) -> None:
        with self.open_write(key) as file:
            file.write(data)

    @contextmanager
    def open_write(self, key: str) -> Iterator[BinaryIO]:
        *folders, name = parts(key)
        with _ours(key):
            os.makedirs(self._root, exist_ok=True)
        with _ours(key), self._folder(tuple(folders), make=True) as folder:
            temporary = _TEMPORARY + secrets.token_hex(8)
            file = os.fdopen(os.open(temporary, _WRITE, 0o666, dir_fd=folder), "wb")
            try:
                with file:
                    yield file
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                os.unlink(temporary, dir_fd=folder)
                raise

    def delete(self, prefix: str) -> int:
        pieces = parts(prefix, folder=True)
        if not pieces:
            return sum(self.delete(name) for name in self._names())
        count = sum(1 for _ in self.list(prefix)) + int(self.exists("/".join(pieces)))
        try:
            with _ours(prefix), self._folder(pieces[:-1]) as folder:
                if stat.S_ISDIR(os.stat(pieces[-1], dir_fd=folder, follow_symlinks=False).st_mode):
                    shutil.rmtree(pieces[-1], dir_fd=folder)
                else:
                    os.unlink(pieces[-1], dir_fd=folder)
        except NotThere:
            return 0
        except RecursionError as error:
            raise StorageError(f"{prefix[:200]!r} is nested too deeply", retryable=False) from error
        return count

    def presign(self, key: str, seconds: int) -> str | None:
        parts(key)
        return None

    def _names(self) -> Sequence[str]:
        try:
            with _ours(""), self._folder(()) as folder:
                return os.listdir(folder)
        except NotThere:
            return []

    @contextmanager
    def _folder(self, pieces: tuple[str, ...], make: bool = False) -> Iterator[int]:
        """Open a folder below the root, one part after the other; with ``make`` what lacks is made."""
        folder = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for piece in self._base + pieces:
                if make:
                    _make(piece, folder)
                inner = os.open(piece, _FOLDER, dir_fd=folder)
                os.close(folder)
                folder = inner
            yield folder
        finally:
            os.close(folder)

    def _entries(
        self, folder: int, where: tuple[str, ...], stack: MutableSequence[tuple[str, ...]]
    ) -> Sequence[Item]:
        """Return the files of an open folder; put its folders on the stack."""
        items = []
        for name in sorted(os.listdir(folder)):
            key = "/".join((*where, name))
            if name.startswith(_TEMPORARY) or not _can_be_key(key):
                continue  # nor is anything below it one
            try:
                found = os.stat(name, dir_fd=folder, follow_symlinks=False)
                if stat.S_ISDIR(found.st_mode):
                    stack.append((*where, name))
                elif stat.S_ISREG(found.st_mode):
                    items.append(_item(key, found))
                elif stat.S_ISLNK(found.st_mode) and (target := self._inside(key)):
                    items.append(_item(key, target))
            except OSError:
                continue  # gone, or replaced by something else, while we looked
        return items

    def _inside(self, key: str) -> os.stat_result | None:
        """Return what a link inside the store points at if that is a file inside, None otherwise."""
        root = os.path.realpath(os.path.join(self._root, *self._base))
        target = os.path.realpath(os.path.join(root, key))
        if not target.startswith(root.rstrip("/") + "/"):
            return None
        found = os.stat(target, follow_symlinks=False)
        return found if stat.S_ISREG(found.st_mode) else None


def _make(name: str, folder: int) -> None:
    try:
        os.mkdir(name, dir_fd=folder)
    except FileExistsError:
        return


def _can_be_key(key: str) -> bool:
    try:
        parts(key)
    except BadKey:
        return False
    return True


def _item(key: str, found: os.stat_result) -> Item:
    # Whoever owns a file gives it any time: what the calendar lacks is brought into it.
    return Item(key, found.st_size, datetime.fromtimestamp(min(max(found.st_mtime, 0), TIME_MOST), UTC))


@contextmanager
def _ours(key: str) -> Iterator[None]:
    """Turn the system's errors into ours."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
        # ENOTDIR is also what a link in place of a folder gives with O_DIRECTORY | O_NOFOLLOW.
        raise NotThere(key) from error
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENAMETOOLONG, errno.EINVAL, errno.ENXIO):
            raise BadKey(key) from error
        lasting = isinstance(error, PermissionError)
        raise StorageError(f"the folder did not do it: {error}", retryable=not lasting) from error
