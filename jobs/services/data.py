"""The data folder of a cluster: what lies in it, and files put into it. It is erased with the cluster."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import BinaryIO

from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext as _

from accounts.access import Access
from accounts.services import audit
from clusters.models import Cluster
from core import errors
from jobs.services import places
from jobs.storage import BadKey, NotThere, Storage, StorageError

MOST_BYTES = 1024**3
MOST_LISTED = 5000  # files that one look at a folder goes through
CHUNK = 1024 * 1024
OPEN = ("ready", "draining")


@dataclass(frozen=True, slots=True)
class Entry:
    """A file, or a folder with the bytes of what was seen in it; ``modified`` is its newest file's."""

    name: str
    key: str
    folder: bool
    size: int
    modified: datetime


@dataclass(frozen=True, slots=True)
class Listing:
    """A folder's entries, folders first; ``whole`` is False when it holds more than was gone through."""

    entries: list[Entry]
    whole: bool


def browsable(cluster: Cluster) -> bool:
    """Say whether the folder can be looked into from here: the site shares it and the cluster lives."""
    return cluster.status in OPEN and cluster.site.backend == "embedded"


def look(cluster: Cluster, folder: str) -> Listing:
    """Return what lies in a folder; an empty listing for one that is not there."""
    prefix = folder.strip("/")
    try:
        items = list(islice(_store(cluster).list(prefix), MOST_LISTED + 1))
    except BadKey as error:
        raise _no_name() from error
    except StorageError as error:
        raise errors.Conflict(_("The data folder did not do this: %(why)s") % {"why": error}) from error
    found: dict[str, Entry] = {}
    skip = len(prefix) + 1 if prefix else 0
    for item in items[:MOST_LISTED]:
        name, slash, _rest = item.key[skip:].partition("/")
        before = found.get(name)
        found[name] = Entry(
            name=name,
            key=item.key[:skip] + name,
            folder=bool(slash),
            size=item.size + (before.size if before else 0),
            modified=max(item.modified, before.modified) if before else item.modified,
        )
    ordered = sorted(found.values(), key=lambda entry: (not entry.folder, entry.name))
    return Listing(ordered, len(items) <= MOST_LISTED)


def put(*, access: Access, cluster: Cluster, folder: str, file: UploadedFile, now: datetime) -> str:
    """Write a file into a folder of the data volume and return its key; one of the same name is replaced."""
    access.require("jobs:write")
    if (file.size or 0) > MOST_BYTES:
        raise errors.Invalid.field(
            "file", "too_large", _("A file has at most 1 GB here. Import larger ones by a job.")
        )
    name = (file.name or "").replace("\\", "/").rpartition("/")[2].strip()
    key = "/".join(part for part in (folder.strip("/"), name) if part)
    try:
        with _store(cluster).open_write(key) as target:
            for chunk in file.chunks(CHUNK):
                target.write(chunk)
    except BadKey as error:
        raise _no_name() from error
    except StorageError as error:
        raise errors.Conflict(_("The file could not be written: {detail}").format(detail=error)) from error
    audit.record(
        actor=access.actor,
        action="data.uploaded",
        target=cluster,
        organisation=access.organisation,
        after={"key": key, "bytes": file.size},
        now=now,
    )
    return key


def open_file(cluster: Cluster, key: str) -> BinaryIO:
    """Open a file of the data folder for reading."""
    try:
        return _store(cluster).open_read(key)
    except (BadKey, NotThere) as error:
        raise errors.NotFound(_("There is no such file in the data folder.")) from error


def pieces(file: BinaryIO) -> Iterator[bytes]:
    """Yield a file in pieces and close it."""
    with file:
        while piece := file.read(CHUNK):
            yield piece


def _store(cluster: Cluster) -> Storage:
    store = places.volume(cluster, "data") if browsable(cluster) else None
    if store is None:
        raise errors.Conflict(
            _("The data folder of this cluster cannot be opened from here. A job finds it at /data.")
        )
    return store


def _no_name() -> errors.Invalid:
    return errors.Invalid.field("file", "invalid_path", _("This is not a name that a file can have."))
