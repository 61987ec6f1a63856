"""The end of a run: its state, its hours, what becomes of the job, and whether another run follows."""

import random
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from clusters import reads as cluster_reads
from core import dispatch
from core.actors import Actor
from jobs import retry, states, words
from jobs.models import Checkpoint, Job, Run
from jobs.reasons import Reason, reason
from jobs.services import hours, submit, telling, timeline

HISTORY = 200


@dataclass(frozen=True, slots=True)
class End:
    """How a run ended. ``failure`` overrides the class that its reason has."""

    status: str
    why: Reason | None = None
    exit_code: int | None = None
    at: datetime | None = None
    failure: retry.FailureClass | None = None


def lock(run_id: str) -> Run:
    """Lock a run's job, then the run, and return it with its job: the order that everybody keeps."""
    job_id = Run.objects.values_list("job_id", flat=True).get(pk=run_id)
    job = Job.objects.select_for_update(no_key=True).get(pk=job_id)
    run = Run.objects.select_for_update(no_key=True).get(pk=run_id)
    run.job = job
    return run


def cancel_waiting(run_id: str, *, code: str, now: datetime, actor: Actor = timeline.BERTH) -> bool:
    """Cancel a run that was never admitted; False when it has moved on meanwhile."""
    with transaction.atomic():
        run = lock(run_id)
        if run.status != "queued":
            return False
        finish(run, End("cancelled", reason(code)), now=now, actor=actor)
        return True


def finish(run: Run, end: End, *, now: datetime, actor: Actor = timeline.BERTH) -> None:
    """Make a locked run final and its job follow; the caller has the transaction."""
    if run.status in states.RUN.final:
        return
    job: Job = run.job
    if not states.RUN.allows(run.status, end.status):
        raise ValueError(f"{run.pk}: {run.status} cannot become {end.status}")
    run.status = end.status
    run.why = words.store(end.why)
    run.exit_code = end.exit_code if end.exit_code is not None else run.exit_code
    run.finished_at = max(end.at or now, run.started_at or run.created_at)
    if end.status == "failed":
        run.failure_class = end.failure or _class_of(run, end)
    if run.started_at is not None:
        run.gpu_seconds = hours.write(run, until=run.finished_at)
        run.metered_until = run.finished_at
    run.due_at = now if run.holds or run.launched_at else None
    run.save()
    dispatch.after_commit("jobs.step", run.pk)
    values = {"reason": run.why} if run.why else {"reason": ""}
    timeline.record(job, end.status, run=run, now=now, actor=actor, **values)
    if end.status == "failed" and not run.stop and _follow(run, now):
        return
    _end_job(job, run, now)


def _class_of(run: Run, end: End) -> retry.FailureClass:
    if end.why is None:
        return retry.FailureClass.USER
    broken = cluster_reads.broken_nodes(run.cluster_id, [str(name) for name, _ in run.placement])
    return retry.classify(retry.FailureFacts(end.why.code, end.exit_code, node_failed=bool(broken)))


def _follow(run: Run, now: datetime) -> bool:
    """Write run n+1 when the failure allows it; it starts from the newest complete checkpoint."""
    job: Job = run.job
    since = job.runs.filter(cause__in=("submit", "resume")).order_by("-number").first()
    earlier = job.runs.filter(
        status="failed", number__lt=run.number, number__gte=since.number if since else 1
    )
    history = [
        retry.PastFailure(retry.FailureClass(past.failure_class), past.finished_at or past.created_at)
        for past in earlier.order_by("-number")[:HISTORY]
        if past.failure_class
    ]
    failure = retry.FailureClass(run.failure_class)
    decision = retry.decide(failure, history, job.max_retries, now, random.random())  # noqa: S311
    said = words.store(decision.reason)
    if not decision.retry:
        timeline.record(job, "not_retried", run=run, now=now, reason=said)
        return False
    start = continue_from(run) if _resumes(job) else None
    follower = submit.new_run(
        job,
        number=run.number + 1,
        cause="retry",
        now=now,
        not_before=decision.at,
        resume_from=start,
    )
    timeline.record(job, "retry", run=follower, now=now, reason=said)
    Job.objects.filter(pk=job.pk).update(
        status="queued", why=said, queued_at=now, step=start.step if start else None
    )
    dispatch.after_commit("jobs.admit", job.cluster_id)
    return True


def continue_from(run: Run) -> Checkpoint | None:
    """Return where a run after this one goes on: its newest complete checkpoint, else where it began."""
    rows = Checkpoint.objects.filter(Checkpoint.there(), run=run, complete=True)
    own = rows.order_by("-step").first()
    if own is not None:
        return own
    began = run.resume_from
    return began if began is not None and began.is_there else None


def _resumes(job: Job) -> bool:
    wanted = (job.spec.get("checkpoints") or {}).get("resume", "auto")
    return bool(wanted == "auto")


def _end_job(job: Job, run: Run, now: datetime) -> None:
    final = run.status != "suspended"
    Job.objects.filter(pk=job.pk).update(
        status=run.status, why=run.why, finished_at=run.finished_at if final else None
    )
    if run.status in ("succeeded", "failed"):
        telling.job_ended(job, run, now=now)
    dispatch.after_commit("jobs.admit", job.cluster_id)
