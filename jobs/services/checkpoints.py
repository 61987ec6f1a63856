"""The registry of checkpoints: what lies in a run's folder becomes rows, incomplete ones too."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from jobs import checkpoint_keys, states
from jobs.listing import Item
from jobs.models import Checkpoint, Run
from jobs.services import places
from jobs.storage import Storage, StorageError

FIELDS = ("step", "layout", "is_file", "bytes", "complete", "metric")
LONGEST_KEY = 300
BYTES_MOST = 2**63 - 1  # files with holes may claim more than a database counts
FILES_MOST = 100_000
QUIET = timedelta(seconds=30)  # other ranks may still write beside the marker of completeness


@dataclass(frozen=True, slots=True)
class Scan:
    """What a look into a run's folder found: complete checkpoints, and the keys that may still be written."""

    complete: int = 0
    fresh: frozenset[str] = frozenset()


def scan(run: Run, *, now: datetime) -> Scan:
    """Bring what a run has written to the registry; a repeat changes nothing.

    ``run`` brings job, cluster and site. Listing happens outside any transaction. The rows are read before:
    what is removed while we look is then either seen as being removed, or not found.
    """
    volume = places.volume(run.cluster, "checkpoints")
    if volume is None:
        return Scan()
    known = {row.key: row for row in Checkpoint.objects.filter(run=run)}
    folder = volume.at(run.pk)
    listing = list(islice(folder.list(), FILES_MOST))
    if not listing and not known:
        return Scan()
    # What the run goes on from stands in its folder, too, and is a checkpoint of the run that wrote it.
    linked = run.resume_from.key if run.resume_from is not None else None
    found = [one for one in _recognise(folder, listing) if one.key != linked]
    written = _written(found, listing)
    rows = []
    for one in found:
        row = known.pop(one.key, None)
        if row is not None and row.gone_at is not None:
            _is_back(row, one)
        elif row is None or (row.removal_at is None and _differs(row, one)):
            at = row.created_at if row is not None else min(now, written[one.key])
            rows.append(_row(run, one, at))
    Checkpoint.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["run", "key"], update_fields=list(FIELDS)
    )
    if len(listing) < FILES_MOST:  # else the rest was not looked at
        lost = [row.pk for row in known.values() if row.gone_at is None]
        Checkpoint.objects.filter(Checkpoint.there(), pk__in=lost).update(gone_at=now)
    over = run.status in states.RUN.final
    fresh = [one.key for one in found if not over and written[one.key] > now - QUIET]
    return Scan(sum(one.complete for one in found), frozenset(fresh))


def _recognise(folder: Storage, listing: list[Item]) -> list[checkpoint_keys.Found]:
    texts = {}
    for key in checkpoint_keys.wanted(listing):
        try:
            texts[key] = folder.read_small(key, checkpoint_keys.READ_BYTES).decode("utf-8", "replace")
        except StorageError:
            continue  # deleted since it was listed, or no plain file
    found = checkpoint_keys.recognise(listing, texts)
    return [one for one in found if len(one.key) <= LONGEST_KEY]


def _row(run: Run, found: checkpoint_keys.Found, at: datetime) -> Checkpoint:
    return Checkpoint(
        organisation_id=run.organisation_id,
        job_id=run.job_id,
        run=run,
        key=found.key,
        created_at=at,
        **_fields(found),
    )


def _is_back(row: Checkpoint, found: checkpoint_keys.Found) -> None:
    """Files that were gone are there again: written anew under the same name."""
    rows = Checkpoint.objects.filter(pk=row.pk, gone_at=row.gone_at)
    rows.update(**_fields(found), gone_at=None, removal_at=None)


def _differs(row: Checkpoint, found: checkpoint_keys.Found) -> bool:
    return any(getattr(row, name) != value for name, value in _fields(found).items())


def _fields(found: checkpoint_keys.Found) -> dict[str, Any]:
    metric = None if found.metric is None else {"name": found.metric[0], "value": found.metric[1]}
    return {
        "step": found.step,
        "layout": found.layout,
        "is_file": found.is_file,
        "bytes": min(found.bytes, BYTES_MOST),
        "complete": found.complete,
        "metric": metric,
    }


def _written(found: Iterable[checkpoint_keys.Found], listing: Iterable[Item]) -> dict[str, datetime]:
    """Return when each checkpoint was last written to."""
    latest: dict[str, datetime] = {}
    keys = {one.key for one in found}
    for item in listing:
        path = item.key
        while path and path not in keys:
            path = path.rpartition("/")[0]
        if path:
            latest[path] = max(item.modified, latest.get(path, item.modified))
    return latest
