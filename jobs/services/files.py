"""The shared volume ``/data`` of a cluster: what lies in it, and bringing files there."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import BinaryIO

from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext as _

from accounts.access import Access
from accounts.services import audit
from clusters import words as cluster_words
from clusters.models import Cluster
from core import errors
from jobs.listing import Item
from jobs.services import places
from jobs.storage import BadKey, NotThere, Storage, StorageError

MOST_BYTES = 1024**3
MOST_FILES = 10_000  # looked at for one listing
CHUNK = 1024 * 1024
USABLE = ("ready", "draining")


@dataclass(frozen=True, slots=True)
class Entry:
    """A file, or a folder with the bytes and the newest change of what is below it."""

    name: str
    path: str
    is_folder: bool
    bytes: int
    modified: datetime


@dataclass(frozen=True, slots=True)
class Listing:
    """The entries of one folder; ``cut`` when there was more below it than was looked at."""

    entries: list[Entry]
    cut: bool


def browsable(cluster: Cluster) -> bool:
    """Say whether the volume can be looked into from here: the site shares it and the cluster lives."""
    return cluster.status in USABLE and places.volume(cluster, "data") is not None


def listing(cluster: Cluster, folder: str) -> Listing:
    """Return what lies in a folder of ``/data``, folders first; empty for one that is not there."""
    prefix = _clean(folder)
    found: dict[str, Entry] = {}
    count = 0
    for item in islice(_items(_volume(cluster), prefix), MOST_FILES + 1):
        count += 1
        below = item.key.removeprefix(f"{prefix}/") if prefix else item.key
        name, slash, _rest = below.partition("/")
        size, modified = item.size, item.modified
        if name in found:
            size, modified = size + found[name].bytes, max(modified, found[name].modified)
        path = f"{prefix}/{name}" if prefix else name
        found[name] = Entry(name, path, bool(slash), size, modified)
    entries = sorted(found.values(), key=lambda one: (not one.is_folder, one.name))
    return Listing(entries, count > MOST_FILES)


def put(*, access: Access, cluster: Cluster, path: str, file: UploadedFile, now: datetime) -> Entry:
    """Write a file to ``/data``; one of this name is replaced as a whole, never half."""
    access.require("jobs:write")
    if (file.size or 0) > MOST_BYTES:
        raise errors.Invalid.field(
            "file", "too_large", _("A file has at most 1 GB here. Import larger ones by a job.")
        )
    key = _clean(path)
    volume = _volume(cluster)
    with _sentences():
        try:
            with volume.open_write(key) as target:
                for chunk in file.chunks(CHUNK):
                    target.write(chunk)
        except NotThere as error:
            raise errors.Invalid.field(
                "path", "taken", _("A file stands where this path needs a folder, or a folder in its place.")
            ) from error
        item = volume.stat(key)
    if item is None:
        raise errors.Conflict(_("The file was deleted while it was written."))
    audit.record(
        actor=access.actor,
        action="file.written",
        target=cluster,
        organisation=access.organisation,
        after={"path": key, "bytes": item.size},
        now=now,
    )
    return Entry(key.rpartition("/")[2], key, False, item.size, item.modified)


def delete(*, access: Access, cluster: Cluster, path: str, now: datetime) -> None:
    """Delete a file, or a folder with all below it."""
    access.require("jobs:write")
    key = _clean(path)
    if not key:
        raise errors.Invalid.field("path", "required", _("Name a file or a folder."))
    with _sentences():
        count = _volume(cluster).delete(key)
    if not count:
        raise errors.NotFound(_("There is no such file."))
    audit.record(
        actor=access.actor,
        action="file.deleted",
        target=cluster,
        organisation=access.organisation,
        before={"path": key},
        now=now,
    )


def open_file(cluster: Cluster, path: str) -> tuple[BinaryIO, int]:
    """Open a file for download and return it with its size; the caller closes it."""
    key = _clean(path)
    volume = _volume(cluster)
    with _sentences():
        item = volume.stat(key) if key else None
        if item is None:
            raise errors.NotFound(_("There is no such file."))
        return volume.open_read(key), item.size


def _volume(cluster: Cluster) -> Storage:
    if cluster.status not in USABLE:
        raise errors.InvalidState(
            _("The data volume can be reached while the cluster is ready; it is %(status)s.")
            % {"status": cluster_words.state(cluster.status)},
            extra={"state": cluster.status},
        )
    volume = places.volume(cluster, "data")
    if volume is None:
        raise errors.Conflict(_("The data volume of this site is reached by jobs only."))
    return volume


def _items(volume: Storage, prefix: str) -> Iterator[Item]:
    with _sentences():
        yield from volume.list(prefix)


@contextmanager
def _sentences() -> Iterator[None]:
    """Say in words what the store does not do: what a job made of its volume is no fault of ours."""
    try:
        yield
    except BadKey as error:
        raise _bad_path() from error
    except NotThere as error:
        raise errors.NotFound(_("There is no such file.")) from error
    except StorageError as error:
        raise errors.Conflict(_("The data folder did not do this: %(why)s") % {"why": error}) from error


def _clean(path: str) -> str:
    """Return a key: ``/data`` before it and slashes around it are the user's habit."""
    key = path.strip("/")
    if key == "data" or (path.startswith("/data/") and key.startswith("data/")):
        key = key[5:].strip("/")
    if any(part in ("", ".", "..") for part in key.split("/")) and key:
        raise _bad_path()
    return key


def _bad_path() -> errors.Invalid:
    return errors.Invalid.field("path", "invalid_path", _("This is not a path below /data."))
