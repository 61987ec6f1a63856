"""Ending what runs hold on a site: stops, GPUs given back when the pods are gone, objects deleted."""

from datetime import datetime, timedelta

from clusters.services import ports
from core import claims
from core import errors as core_errors
from jobs import states
from jobs.models import Run
from jobs.services import observe, queue
from k8s import errors, labels
from k8s.port import Port

CLAIM_SECONDS = 30
AGAIN = timedelta(seconds=2)
AGAIN_LATER = timedelta(seconds=15)
PATIENCE = timedelta(seconds=30)
KEEP_FOR_LOGS = timedelta(minutes=2)  # what the collector has not read by then is not waited for
OWNED = (
    ("Secret", "env"),
    ("Secret", "fetch"),
    ("ConfigMap", "code"),
    ("ConfigMap", "fetch"),
    ("ConfigMap", "link"),
)


def carry_out_stop(run_id: str, *, now: datetime) -> None:
    """Delete the object of a run that is being stopped, and record its end once nothing is left."""
    wanted = Run.objects.filter(pk=run_id, status__in=states.RUN_ON_CLUSTER).exclude(stop="")
    token = claims.take(wanted, now=now, seconds=CLAIM_SECONDS)
    if token is None:
        return
    run = _load(run_id)
    due: datetime | None = now + (AGAIN if now - (run.stop_at or now) < PATIENCE else AGAIN_LATER)
    try:
        port = ports.port(run.cluster.site)
        there = port.delete("PyTorchJob", run.cluster.object_name, run.object_name)
        if not there and observe.look(port, run, None, now=now) in states.RUN.final:
            due = now
    except (errors.Error, core_errors.Unavailable):
        due = now + AGAIN_LATER
    claims.give_back(Run, run_id, token, due_at=due)


def settle(run_id: str, *, now: datetime) -> None:
    """Bring an ended run to rest: GPUs back when its pods are gone, its objects deleted when read."""
    wanted = Run.objects.filter(pk=run_id, status__in=states.RUN.final, due_at__isnull=False)
    token = claims.take(wanted, now=now, seconds=CLAIM_SECONDS)
    if token is None:
        return
    run = _load(run_id)
    due: datetime | None = now + AGAIN_LATER
    try:
        port = ports.port(run.cluster.site)
        if run.holds and not _living_pods(port, run):
            queue.release(run_id, now=now)
            run.holds = False
            # Here and not as a hint: the row stays due until the queue has seen the free GPUs.
            queue.admit(run.cluster_id, now=now)
        due = _clean(port, run, now)
    except (errors.Error, core_errors.Unavailable):
        due = now + AGAIN_LATER
    claims.give_back(Run, run_id, token, due_at=due)


def _clean(port: Port, run: Run, now: datetime) -> datetime | None:
    """Delete the run's objects as soon as nobody needs them; None when nothing is left to do."""
    namespace, name = run.cluster.object_name, run.object_name
    unread = not run.collected and run.launched_at is not None
    if unread and not run.holds and now < (run.finished_at or now) + KEEP_FOR_LOGS:
        return now + AGAIN_LATER  # the collector makes it due when it has read all
    there = port.delete("PyTorchJob", namespace, name)
    if there or run.holds:
        return now + AGAIN
    for kind, suffix in OWNED:
        port.delete(kind, namespace, f"{name}-{suffix}")
    return None


def _living_pods(port: Port, run: Run) -> bool:
    pods = port.list_pods(run.cluster.object_name, {labels.RUN: run.object_name})
    return any(pod.phase not in ("Succeeded", "Failed") for pod in pods)


def _load(run_id: str) -> Run:
    return Run.objects.select_related("job", "cluster__site").get(pk=run_id)
