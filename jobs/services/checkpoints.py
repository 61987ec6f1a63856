"""The registry of checkpoints: what lies in a run's folder becomes rows, incomplete ones too."""

from collections.abc import Iterable
from datetime import datetime
from itertools import islice
from typing import Any

from jobs import checkpoint_keys
from jobs.listing import Item
from jobs.models import Checkpoint, Run
from jobs.services import places
from jobs.storage import Storage, StorageError

FIELDS = ("step", "layout", "is_file", "bytes", "complete", "metric", "gone_at")
LONGEST_KEY = 300
BYTES_MOST = 2**63 - 1  # files with holes may claim more than a database counts
FILES_MOST = 100_000


def scan(run: Run, *, now: datetime) -> int:
    """Bring what a run has written to the registry; return how many checkpoints are complete.

    ``run`` brings job, cluster and site. Listing happens outside any transaction; a repeat changes nothing.
    """
    volume = places.volume(run.cluster, "checkpoints")
    if volume is None:
        return 0
    folder = volume.at(run.pk)
    listing = list(islice(folder.list(), FILES_MOST))
    if not listing and not Checkpoint.objects.filter(run=run).exists():
        return 0
    # What the run goes on from stands in its folder, too, and is a checkpoint of the run that wrote it.
    linked = run.resume_from.key if run.resume_from is not None else None
    found = [one for one in _recognise(folder, listing) if one.key != linked]
    known = {row.key: row for row in Checkpoint.objects.filter(run=run)}
    written = {item.key: item.modified for item in listing}
    rows = []
    for one in found:
        row = known.pop(one.key, None)
        shown = _fields(one)
        if row is not None and all(getattr(row, name) == value for name, value in shown.items()):
            continue
        at = row.created_at if row is not None else min(now, _newest(one.key, written))
        rows.append(
            Checkpoint(
                organisation_id=run.organisation_id,
                job_id=run.job_id,
                run=run,
                key=one.key,
                created_at=at,
                **shown,
            )
        )
    for row in known.values():
        if row.gone_at is None:
            row.gone_at = now
            row.save(update_fields=["gone_at"])
    Checkpoint.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["run", "key"], update_fields=list(FIELDS)
    )
    return sum(one.complete for one in found)


def _recognise(folder: Storage, listing: list[Item]) -> list[checkpoint_keys.Found]:
    texts = {}
    for key in checkpoint_keys.wanted(listing):
        try:
            texts[key] = folder.read_small(key, checkpoint_keys.READ_BYTES).decode("utf-8", "replace")
        except StorageError:
            continue  # deleted since it was listed, or no plain file
    found = checkpoint_keys.recognise(listing, texts)
    return [one for one in found if len(one.key) <= LONGEST_KEY]


def _fields(found: checkpoint_keys.Found) -> dict[str, Any]:
    metric = None if found.metric is None else {"name": found.metric[0], "value": found.metric[1]}
    return {
        "step": found.step,
        "layout": found.layout,
        "is_file": found.is_file,
        "bytes": min(found.bytes, BYTES_MOST),
        "complete": found.complete,
        "metric": metric,
        "gone_at": None,
    }


def _newest(key: str, written: dict[str, datetime]) -> datetime:
    times: Iterable[datetime] = [
        at for name, at in written.items() if name == key or name.startswith(f"{key}/")
    ]
    return max(times)
