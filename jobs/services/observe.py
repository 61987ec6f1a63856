"""What a site shows of a run, brought to the rows: forward only, late and repeated news change nothing."""

import logging
from datetime import datetime, timedelta
from typing import Any

from django.db import DataError, transaction

from jobs import retry, states, status, words
from jobs.models import Job, Run
from jobs.reasons import reason
from jobs.services import checkpoints, ending, timeline
from jobs.storage import StorageError
from k8s import labels
from k8s.port import Port
from k8s.types import PyTorchJobInfo

logger = logging.getLogger(__name__)
START_LIMIT = timedelta(minutes=15)  # from launch until all replicas run
METER_EVERY = timedelta(hours=1)


def look(port: Port, run: Run, info: PyTorchJobInfo | None, *, now: datetime) -> str:
    """Fetch what the news lack (pods), apply it, and return the run's status; outside any transaction.

    ``run`` brings job and cluster; ``info`` is None when the object is not there.
    """
    if run.status in states.RUN.final:
        return run.status
    settled = info is not None and not info.deleted and info.condition("Running") is not None
    pods = []
    if not settled or run.status != "running":
        pods = port.list_pods(run.cluster.object_name, {labels.RUN: run.object_name})
    seen = status.observation(info, pods, now)
    if seen.gone or seen.true("Failed") or seen.true("Succeeded"):
        # The replicas have written what they will write: register it before a retry asks for it.
        try:
            checkpoints.scan(run, now=now)
        except (StorageError, DataError) as error:
            # What lies in the folder is the job's; the end of its run must not hang on that.
            logger.warning("checkpoints not listed", extra={"run": run.pk, "error": str(error)})
    version = info.resource_version if info is not None else ""
    return apply(run_id=run.pk, seen=seen, version=version, now=now)


def apply(*, run_id: str, seen: status.Observation, now: datetime, version: str = "") -> str:
    """Bring an observation to the rows and return the status after it."""
    run = Run.objects.select_related("job").get(pk=run_id)
    if not _news(run, status.derive(run.status, seen, _stop(run)), seen):
        return run.status
    with transaction.atomic():
        run = ending.lock(run_id)
        if run.status in states.RUN.final:
            return run.status
        derived = status.derive(run.status, seen, _stop(run))
        run.observed_at, run.observed_version = now, version
        if seen.exists:
            run.launched_at = run.launched_at or now
        if seen.exists and run.status == "launching" != derived.status:  # its worker has not said so yet
            timeline.record(run.job, "launched", run=run, now=now)
        if derived.started_at is not None and run.started_at is None:
            run.started_at = min(derived.started_at, now)
        if derived.status in states.RUN.final:
            end = ending.End(derived.status, derived.reason, derived.exit_code, derived.finished_at)
            ending.finish(run, end, now=now)
        elif derived.stuck is not None:
            why = derived.stuck
            ending.finish(run, ending.End("failed", why, failure=retry.FailureClass.CONFIGURATION), now=now)
        else:
            _move(run, derived.status, seen, now)
        return run.status


def never_started(run_id: str, *, now: datetime) -> None:
    """Fail a run that was launched and did not come up within the limit: the site's fault, not the code's."""
    with transaction.atomic():
        run = ending.lock(run_id)
        if run.status != "pending" or run.stop:
            return
        minutes = int(START_LIMIT.total_seconds() // 60)
        why = reason("never_started", minutes=minutes)
        ending.finish(run, ending.End("failed", why, failure=retry.FailureClass.INFRASTRUCTURE), now=now)


def _news(run: Run, derived: status.Derived, seen: status.Observation) -> bool:
    """Say whether there is anything to write: most events of a watch repeat what is known."""
    if run.status in states.RUN.final:
        return False
    if derived.status != run.status or derived.stuck is not None:
        return True
    return run.status == "pending" and words.store(status.why_pending(seen, run.job.replicas)) != run.why


def _stop(run: Run) -> status.Stop | None:
    return status.Stop(run.stop, run.stop_at or run.created_at) if run.stop else None


def _move(run: Run, to: str, seen: status.Observation, now: datetime) -> None:
    """Move a run to a state that is not final, with the moment at which it must be looked at next."""
    job: Job = run.job
    before = run.status
    run.status = to
    if to == "pending":
        run.why = words.store(status.why_pending(seen, job.replicas))
    elif to == "running":
        run.why = None
    if to != before and not run.stop:
        run.due_at = next_due(run, now)
    run.save()
    if to == before:
        return
    started: dict[str, Any] = {}
    if to == "running":
        # Progress counts from where this run begins: what an earlier run reached says nothing of its pace.
        started = {"started_at": job.started_at or run.started_at}
        if not run.streams.filter(lines__gt=0).exists():  # else the log was faster than this news
            started["step"] = run.resume_from.step if run.resume_from is not None else None
    Job.objects.filter(pk=job.pk).update(status=to, why=None, **started)
    if to == "running":
        timeline.record(job, "running", run=run, now=now)


def next_due(run: Run, now: datetime) -> datetime:
    """Return when a run must be looked at if nothing happens: start limit, time limit, or its next hour."""
    if run.status == "pending":
        return (run.launched_at or now) + START_LIMIT
    due = (run.metered_until or run.started_at or now) + METER_EVERY
    if run.job.max_runtime_seconds is not None and run.started_at is not None:
        due = min(due, run.started_at + timedelta(seconds=run.job.max_runtime_seconds))
    return max(due, now)
