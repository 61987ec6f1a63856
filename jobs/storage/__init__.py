"""Files that outlive processes: one port, a local folder and S3 behind it."""

from urllib.parse import urlsplit

from jobs.storage.fsspec_store import S3Access, S3Store
from jobs.storage.local_store import LocalStore
from jobs.storage.port import BadKey, NotThere, Storage, StorageError

__all__ = ["BadKey", "NotThere", "S3Access", "Storage", "StorageError", "from_url"]


def from_url(url: str, access: S3Access | None = None) -> Storage:
    """Return the store of an address: ``file:///folder``, a plain absolute path, or ``s3://bucket/prefix``.

    ``access`` is for S3; without it the environment's own credentials count. Raises ValueError for others.
    """
    parts = urlsplit(url)
    if parts.scheme == "s3" and parts.netloc:
        return S3Store(parts.netloc, parts.path.strip("/"), access or S3Access())
    if parts.scheme in ("", "file") and not parts.netloc and parts.path.startswith("/"):
        return LocalStore(parts.path)
    raise ValueError(f"no storage for {url!r}: give file:///folder or s3://bucket/prefix")
