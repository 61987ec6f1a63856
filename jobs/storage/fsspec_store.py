"""A bucket as a store, through fsspec and s3fs: the one module that knows them."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

import botocore.exceptions
import fsspec

from jobs.listing import Item
from jobs.storage.port import BadKey, NotThere, Storage, StorageError, parts

CONNECT_SECONDS = 5
READ_SECONDS = 60
TRIES = 2
_BROKEN = (botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError)


@dataclass(frozen=True, slots=True)
class S3Access:
    """How to reach a bucket; empty values come from the environment, as with every S3 client."""

    key: str = ""
    secret: str = ""
    endpoint_url: str = ""
    region: str = ""


class S3Store:
    """Files below a prefix of a bucket, which must be there."""

    def __init__(self, bucket: str, prefix: str, access: S3Access) -> None:
        self._bucket = bucket
        self._base = parts(prefix, folder=True)
        self._access = access
        self._made: tuple[int, Any] | None = None

    def at(self, prefix: str) -> Storage:
        store = S3Store(self._bucket, "/".join(self._base + parts(prefix, folder=True)), self._access)
        store._made = self._made  # one connection pool for all folders
        return store

    def list(self, prefix: str = "") -> Iterator[Item]:
        below = self._path(parts(prefix, folder=True)) + "/"
        with _ours(prefix):
            found = self._fs.find(below, detail=True)
        for path, info in sorted(found.items()):
            if info["type"] == "file" and path.startswith(below) and not path.endswith("/"):
                yield self._item(path, info)

    def stat(self, key: str) -> Item | None:
        path = self._path(parts(key))
        try:
            with _ours(key):
                info = self._fs.info(path)
        except NotThere:
            return None
        return self._item(path, info) if info["type"] == "file" else None

    def exists(self, key: str) -> bool:
        return self.stat(key) is not None

    def read_small(self, key: str, limit: int) -> bytes:
        found = self.stat(key)
        if found is None:
            raise NotThere(key)
        return self._read(key, max(0, found.size - limit), found.size)

    def read_range(self, key: str, start: int, length: int) -> bytes:
        found = self.stat(key)
        if found is None:
            raise NotThere(key)
        return self._read(key, start, min(found.size, start + length))

    def open_read(self, key: str) -> BinaryIO:
        if not self.exists(key):
            raise NotThere(key)
        with _ours(key):
            return cast("BinaryIO", self._fs.open(self._path(parts(key)), "rb"))

    def write(self, key: str, data: bytes) -> None:
        path = self._path(parts(key))
        with _ours(key):
            self._fs.pipe_file(path, data)

    @contextmanager
    def open_write(self, key: str) -> Iterator[BinaryIO]:
        path = self._path(parts(key))
        with _ours(key):
            # Parts are uploaded as they come; without the commit no object appears.
            file = self._fs.open(path, "wb", autocommit=False)
        try:
            yield file
        except BaseException:
            with _ours(key):
                file.discard()
            file.closed = True
            raise
        with _ours(key):
            file.close()
            file.commit()

    def delete(self, prefix: str) -> int:
        pieces = parts(prefix, folder=True)
        paths = [self._path(parts(item.key)) for item in self.list(prefix)]
        if pieces and self.exists("/".join(pieces)):
            paths.append(self._path(pieces))
        if paths:
            with _ours(prefix):
                self._fs.rm(paths)
        return len(paths)

    def presign(self, key: str, seconds: int) -> str | None:
        path = self._path(parts(key))
        with _ours(key):
            return str(self._fs.sign(path, expiration=seconds))

    @property
    def _fs(self) -> Any:
        """The file system of this process: its event loop does not survive a fork."""
        if self._made is None or self._made[0] != os.getpid():
            self._made = os.getpid(), _connect(self._access)
        return self._made[1]

    def _path(self, pieces: tuple[str, ...]) -> str:
        return "/".join((self._bucket, *self._base, *pieces))

    def _item(self, path: str, info: dict[str, Any]) -> Item:
        root = self._path(()) + "/"
        return Item(path.removeprefix(root), int(info["size"]), info["LastModified"])

    def _read(self, key: str, start: int, end: int) -> bytes:
        if start >= end:
            return b""
        with _ours(key):
            return bytes(self._fs.cat_file(self._path(parts(key)), start=start, end=end))


def _connect(access: S3Access) -> Any:
    system = fsspec.filesystem(
        "s3",
        key=access.key or None,
        secret=access.secret or None,
        endpoint_url=access.endpoint_url or None,
        client_kwargs={"region_name": access.region} if access.region else {},
        config_kwargs={
            "connect_timeout": CONNECT_SECONDS,
            "read_timeout": READ_SECONDS,
            "retries": {"max_attempts": TRIES},
        },
        use_listings_cache=False,
        skip_instance_cache=True,
    )
    # Callers have a beat that comes back; long waits here would hold their claims.
    system.retries = TRIES
    return system


@contextmanager
def _ours(key: str) -> Iterator[None]:
    """Turn errors of s3fs and botocore into ours."""
    try:
        yield
    except FileNotFoundError as error:
        raise NotThere(key) from error
    except PermissionError as error:
        raise StorageError(f"the bucket refused it: {error}", retryable=False) from error
    except (ValueError, botocore.exceptions.ParamValidationError) as error:
        raise BadKey(key) from error
    except (OSError, *_BROKEN) as error:
        raise StorageError(f"the bucket did not answer: {error}", retryable=True) from error
