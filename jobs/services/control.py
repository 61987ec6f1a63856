"""What people do with a job after submitting it: cancel, suspend, resume."""

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.access import Access
from accounts.services import audit
from clusters import words as cluster_words
from clusters.models import Cluster
from core import dispatch, errors
from core.actors import Actor
from jobs import states, words
from jobs.models import Checkpoint, Job, Run
from jobs.reasons import reason
from jobs.services import ending, pruning, submit, timeline


def cancel(*, access: Access, job_id: str, now: datetime) -> Job:
    """End a job for good. What waits ends at once; what runs gets SIGTERM and ends when it is gone."""
    return _stop(access, job_id, "cancelled", "job.cancel_asked", now)


def suspend(*, access: Access, job_id: str, now: datetime) -> Job:
    """End the present run so that the job can go on later from its newest checkpoint."""
    return _stop(access, job_id, "suspended", "job.suspend_asked", now)


def resume(
    *,
    access: Access,
    job_id: str,
    checkpoint_id: str | None = None,
    idempotency_key: str | None = None,
    now: datetime,
) -> Job:
    """Queue run n+1 from the chosen checkpoint, else from the newest complete one, else from the start.

    A repeat with the same key, whatever has become of the run by then, changes nothing.
    """
    access.require("jobs:write")
    with transaction.atomic():
        job = _locked(access, job_id)
        if idempotency_key and job.runs.filter(idempotency_key=idempotency_key).exists():
            return job
        if job.status != "suspended" and job.status not in states.JOB_FINAL:
            raise _wrong_state(
                job, _("Only a suspended or ended job can be resumed; this one is %(status)s.")
            )
        cluster = Cluster.objects.get(pk=job.cluster_id)
        if cluster.status not in submit.USABLE:
            raise errors.InvalidState(
                _("The cluster of this job takes no jobs any more: it is %(status)s.")
                % {"status": cluster_words.state(cluster.status)},
                extra={"state": cluster.status},
            )
        last = job.runs.select_related("resume_from").order_by("-number")[0]
        start = _chosen(job, checkpoint_id) if checkpoint_id else ending.continue_from(last)
        run = submit.new_run(
            job,
            number=last.number + 1,
            cause="resume",
            now=now,
            resume_from=start,
            idempotency_key=idempotency_key,
        )
        before = job.status
        Job.objects.filter(pk=job.pk).update(
            status="queued", why=None, queued_at=now, finished_at=None, step=start.step if start else None
        )
        if start is None:
            timeline.record(job, "restarted", run=run, actor=access.actor, now=now)
        else:
            timeline.record(job, "resumed", run=run, actor=access.actor, now=now, step=start.step)
        _audit(access, "job.resumed", job, before, now, checkpoint=start.pk if start else None)
        dispatch.after_commit("jobs.admit", job.cluster_id)
    job.refresh_from_db()
    return job


def stop_run(run: Run, kind: str, *, now: datetime, actor: Actor = timeline.BERTH) -> None:
    """Ask for the end of a locked run that has GPUs; the beat carries it out, Kubernetes confirms it."""
    if run.stop or run.status in states.RUN.final:
        return
    run.stop, run.stop_at, run.stop_by, run.due_at = kind, now, actor.label[:254], now
    run.save(update_fields=["stop", "stop_at", "stop_by", "due_at"])
    dispatch.after_commit("jobs.step", run.pk)


def _stop(access: Access, job_id: str, kind: str, action: str, now: datetime) -> Job:
    access.require("jobs:write")
    with transaction.atomic():
        job = _locked(access, job_id)
        if job.status in states.JOB_FINAL:
            raise _wrong_state(job, _("This job has ended already: it is %(status)s."))
        run = job.runs.select_for_update(no_key=True).order_by("-number").first()
        before = job.status
        if job.status == "suspended":
            if kind == "cancelled":
                _cancel_suspended(job, now, access.actor)
        elif run is not None:
            run.job = job
            if run.status == "queued":
                ending.finish(run, ending.End(kind, reason(kind)), now=now, actor=access.actor)
            elif run.stop in ("", "suspended") and run.stop != kind:
                # A cancellation overrides a suspension that is still under way, never the other way round.
                run.stop = ""
                stop_run(run, kind, now=now, actor=access.actor)
                asked = "cancel_asked" if kind == "cancelled" else "suspend_asked"
                timeline.record(job, asked, run=run, actor=access.actor, now=now)
        _audit(access, action, job, before, now)
    job.refresh_from_db()
    return job


def _cancel_suspended(job: Job, now: datetime, actor: Actor) -> None:
    why = {"code": "cancelled", "values": {}}
    Job.objects.filter(pk=job.pk).update(status="cancelled", why=why, finished_at=now)
    timeline.record(job, "cancelled", actor=actor, now=now, reason=why)


def _locked(access: Access, job_id: str) -> Job:
    rows = Job.objects.for_org(access.organisation).select_for_update(no_key=True)
    return rows.get_or_404(job_id)


def _chosen(job: Job, checkpoint_id: str) -> Checkpoint:
    found = Checkpoint.objects.filter(job=job, pk=checkpoint_id).first()
    if found is not None and found.removal_at is not None:
        raise errors.Invalid.field(
            "checkpoint",
            "removed",
            _("The checkpoint of step %(step)s was removed: the job keeps its last %(keep)s only.")
            % {"step": found.step, "keep": pruning.keep_last(job)},
        )
    if found is None or found.gone_at is not None:
        raise errors.Invalid.field(
            "checkpoint", "not_found", _("This job has no such checkpoint, or its files are gone.")
        )
    if not found.complete:
        raise errors.Invalid.field(
            "checkpoint", "incomplete", _("This checkpoint is not complete, so nothing can start from it.")
        )
    return found


def _wrong_state(job: Job, sentence: str) -> errors.InvalidState:
    return errors.InvalidState(sentence % {"status": words.state(job.status)}, extra={"state": job.status})


def _audit(access: Access, action: str, job: Job, before: str, now: datetime, **after: str | None) -> None:
    status = Job.objects.values_list("status", flat=True).get(pk=job.pk)
    audit.record(
        actor=access.actor,
        action=action,
        target=job,
        organisation=access.organisation,
        before={"status": before},
        after={"status": status, **after},
        now=now,
    )
