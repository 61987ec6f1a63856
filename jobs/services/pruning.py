"""Removing checkpoints of jobs that keep their last ones: chosen under the job's lock, deleted outside it.

A row with ``removal_at`` is offered no more. Its files are deleted under a claim; only when none is left is
it gone. Killed anywhere between, the next worker deletes what is left and records it.
"""

import logging
from collections.abc import Collection, Sequence
from datetime import datetime

from django.db import transaction

from core import claims, dispatch
from jobs import checkpoint_keys, keeping, states
from jobs.models import Checkpoint, Job, Run
from jobs.services import checkpoints, ending, places, timeline
from jobs.storage import Storage, StorageError

logger = logging.getLogger(__name__)
CLAIM_SECONDS = 300  # also the pause after a store did not do it
BATCH = 20
STEPS_SAID = 10


def keep_last(job: Job) -> int | None:
    """Return how many checkpoints a job keeps, None for all."""
    keep = (job.spec.get("checkpoints") or {}).get("keep_last")
    return keep if isinstance(keep, int) and keep >= 1 else None


def choose(run: Run, *, seen: checkpoints.Scan, now: datetime) -> int:
    """Mark the checkpoints that the run's job keeps no longer; return how many.

    ``seen`` is what a look into the run's folder has just found. Whoever writes a run that starts from a
    checkpoint holds the job's lock, too: either we see the run, or it sees the mark.
    """
    keep = keep_last(run.job)
    if keep is None or not _surplus(run.job, keep, run, seen.fresh):
        return 0
    with transaction.atomic():
        job = lock(run.job_id)
        chosen = _surplus(job, keep, run, seen.fresh)
        marked = Checkpoint.objects.filter(Checkpoint.there(), pk__in=chosen).update(removal_at=now)
        if marked:
            dispatch.after_commit("jobs.prune", job.pk)
        return marked


def lock(job_id: str) -> Job:
    """Lock a job, as everybody does who writes a run of it."""
    return Job.objects.select_for_update(no_key=True).get(pk=job_id)


def waiting(*, now: datetime) -> list[str]:
    """Return jobs with checkpoints to remove that nobody is removing."""
    rows = Checkpoint.objects.filter(claims.free(now), removal_at__isnull=False, gone_at=None)
    return list(rows.order_by("job_id").values_list("job_id", flat=True).distinct()[:BATCH])


def remove(job_id: str, *, now: datetime) -> int:
    """Delete the files of marked checkpoints of a job, some at a time; return how many are gone."""
    marked = Checkpoint.objects.filter(job_id=job_id, removal_at__isnull=False, gone_at=None)
    some = list(marked.filter(claims.free(now)).order_by("pk").values_list("pk", flat=True)[:BATCH])
    token = claims.take(marked.filter(pk__in=some), now=now, seconds=CLAIM_SECONDS) if some else None
    if token is None:
        return 0
    rows = Checkpoint.objects.filter(pk__in=some, claim_token=token).order_by("pk")
    done = [row.pk for row in rows.select_related("run__cluster__site") if _delete(row)]
    gone = _record(job_id, token, done, now)
    if len(some) == BATCH:
        dispatch.after_commit("jobs.prune", job_id)
    return gone


def _surplus(job: Job, keep: int, run: Run, fresh: Collection[str]) -> list[str]:
    rows = Checkpoint.objects.filter(Checkpoint.there(), job=job)
    stored = [
        keeping.Stored(
            id=row.pk,
            run=row.run.number,
            step=row.step,
            layout=row.layout,
            key=row.key,
            complete=row.complete,
            fresh=row.run_id == run.pk and row.key in fresh,
        )
        for row in rows.select_related("run").only(
            "pk", "run__number", "step", "layout", "key", "complete", "run_id"
        )
    ]
    if sum(one.complete for one in stored) <= keep:
        return []
    return keeping.surplus(stored, keep, _in_use(job))


def _in_use(job: Job) -> set[str]:
    """Return the checkpoints that open jobs started from, and the one that this job would go on from."""
    open_runs = Run.objects.filter(resume_from__job=job).exclude(job__status__in=states.JOB_FINAL)
    used = {str(pk) for pk in open_runs.values_list("resume_from_id", flat=True)}
    last = job.runs.select_related("resume_from").order_by("-number").first()
    goes_on = ending.continue_from(last) if last is not None else None
    return used | ({goes_on.pk} if goes_on is not None else set())


def _delete(row: Checkpoint) -> bool:
    """Delete the files of a checkpoint; True when none is left."""
    volume = places.volume(row.run.cluster, "checkpoints")
    if volume is None:
        return False
    folder = volume.at(row.run_id)
    try:
        for key in _keys(folder, row):
            folder.delete(key)
        return not _keys(folder, row)
    except StorageError as error:
        logger.warning("checkpoint not removed", extra={"checkpoint": row.pk, "error": str(error)})
        return False


def _keys(folder: Storage, row: Checkpoint) -> Sequence[str]:
    """Return what is left to delete: the folder, or single files where it holds other things, too."""
    if not row.is_file and checkpoint_keys.is_named_folder(row.key):
        return [row.key] if next(iter(folder.list(row.key)), None) else []
    where = row.key.rpartition("/")[0] if row.is_file else row.key
    return checkpoint_keys.files_of(row.key, row.is_file, [item.key for item in folder.list(where)])


def _record(job_id: str, token: str, done: Sequence[str], now: datetime) -> int:
    with transaction.atomic():
        owned = Checkpoint.objects.filter(pk__in=done, claim_token=token)
        steps = sorted(owned.select_for_update(no_key=True).values_list("step", flat=True))
        if not steps:
            return 0
        owned.update(gone_at=now, claim_token="", claim_until=None)
        job = Job.objects.get(pk=job_id)
        said = ", ".join(str(step) for step in steps[:STEPS_SAID])
        more = " …" if len(steps) > STEPS_SAID else ""
        timeline.record(job, "checkpoints_removed", now=now, keep=keep_last(job) or 0, steps=said + more)
    return len(steps)
