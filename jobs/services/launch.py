"""Handing a run to its site: claim, build, apply outside any transaction, record under the claim.

The object's name is the run's id, so doing it twice is doing it once.
"""

import logging
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from clusters.services import ports
from core import claims, dispatch
from core import errors as core_errors
from jobs import manifest, retry
from jobs.models import Job, Run
from jobs.reasons import Reason, reason
from jobs.services import ending, observe, plans, timeline
from k8s import errors
from k8s.port import Port

logger = logging.getLogger(__name__)
CLAIM_SECONDS = 30  # a killed launch is made again after it; two at once make the same objects
BACKOFF_MOST = timedelta(minutes=2)


def launch(run_id: str, *, now: datetime) -> bool:
    """Launch an admitted run; False when somebody else does, or when there is nothing to do."""
    token = claims.take(
        Run.objects.filter(pk=run_id, status="launching", stop=""), now=now, seconds=CLAIM_SECONDS
    )
    if token is None:
        return False
    run = Run.objects.select_related(
        "job__cluster__site", "job__environment", "cluster__site", "resume_from"
    ).get(pk=run_id)
    try:
        port = ports.port(run.cluster.site)
        objects = manifest.build(plans.of_run(run, now=now))
        uid = ""
        for one in objects:
            uid = port.apply(one).uid
    except plans.CannotPlan as error:
        return _refused(run, token, error.why, now)
    except errors.Refused as error:
        return _refused(run, token, reason("launch_refused", detail=str(error)[:300]), now)
    except (errors.Error, core_errors.Unavailable) as error:
        # Away, or the namespace is not there yet: the cluster's own steps or its end will settle it.
        return _delayed(run, token, error, now)
    _record(port, run, token, uid, timezone.now())
    return True


def _record(port: Port, run: Run, token: str, uid: str, now: datetime) -> None:
    due = now + observe.START_LIMIT
    with transaction.atomic():
        # A watcher may have seen the object before us and moved the run on: then only the claim is ours.
        launched = (
            claims.owned(Run, run.pk, token)
            .filter(status="launching")
            .update(
                status="pending",
                launched_at=now,
                object_uid=uid,
                due_at=due,
                claim_token="",
                claim_until=None,
            )
        )
        if launched:
            Job.objects.filter(pk=run.job_id, status="launching").update(status="pending")
            timeline.record(run.job, "launched", run=run, now=now)
    if launched:
        _stop_if_asked(run.pk, now)
        return
    claims.give_back(Run, run.pk, token, object_uid=uid)
    latest = Run.objects.get(pk=run.pk)
    if latest.finished_at is not None:
        # It was ended while we were on the way: take back what we made.
        port.delete("PyTorchJob", run.cluster.object_name, run.object_name)
    else:
        _stop_if_asked(run.pk, now)


def _stop_if_asked(run_id: str, now: datetime) -> None:
    """A stop that came while we held the claim waits for us: let the beat see it at once."""
    if Run.objects.filter(pk=run_id, finished_at=None).exclude(stop="").update(due_at=now):
        dispatch.after_commit("jobs.step", run_id)


def _refused(run: Run, token: str, why: Reason, now: datetime) -> bool:
    """The same objects would be refused again: a failure of configuration, never retried."""
    with transaction.atomic():
        locked = ending.lock(run.pk)
        if locked.claim_token != token or locked.status != "launching":
            return False
        locked.claim_token, locked.claim_until = "", None
        end = ending.End("failed", why, failure=retry.FailureClass.CONFIGURATION)
        ending.finish(locked, end, now=now)
    return True


def _delayed(run: Run, token: str, error: Exception, now: datetime) -> bool:
    wait = min(timedelta(seconds=2) * (1 << min(run.attempts, 10)), BACKOFF_MOST)
    logger.warning("launch delayed", extra={"run": run.pk, "error": str(error)})
    with transaction.atomic():
        kept = claims.give_back(Run, run.pk, token, attempts=run.attempts + 1, due_at=now + wait)
        if kept and run.attempts == 0:
            timeline.record(run.job, "launch_delayed", run=run, now=now, detail=str(error)[:300])
    return False
