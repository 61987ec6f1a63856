"""Admission: under the cluster's lock the pure queue decides, and runs that fit as a gang get their GPUs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, Q, Sum, Window
from django.db.models.functions import RowNumber

from clusters.models import Cluster, Reservation
from core import dispatch
from jobs import eta, queueing
from jobs.models import Job, Run
from jobs.services import ending, timeline

WINDOW = 200  # of the queue's head; what stands behind it cannot start before
LOOK_AGAIN = timedelta(seconds=60)
WAIT_FOR_CLUSTER = timedelta(seconds=5)
NODE_STATES = ("available", "suspect")
COMING = ("held", "scheduled", "provisioning", "failed")


@dataclass(frozen=True, slots=True)
class Picture:
    """A cluster's nodes, what holds their GPUs, and the head of its queue (runs by job id)."""

    nodes: list[queueing.Node]
    running: list[queueing.Running]
    queued: list[queueing.Queued]


def admit(cluster_id: str, *, now: datetime) -> list[str]:
    """Start what fits; return the ids of the admitted runs. Safe to call at any time, from anywhere."""
    cluster = Cluster.objects.select_related("node_type").filter(pk=cluster_id).first()
    if cluster is None:
        return []
    if cluster.status == "ready" and cluster.gpus_used >= cluster.nodes * cluster.node_type.gpus_per_node:
        # Full. The run that gives GPUs back calls again, so nobody has to look until then.
        _leave(cluster, now)
        return []
    with transaction.atomic():
        locked = lock(cluster_id)
        if locked.status in COMING:
            _look_at_head_again(locked, now, WAIT_FOR_CLUSTER)
            return []
        if locked.status != "ready":
            close_queue(locked, now)
            return []
        seen = picture(locked, now)
        plan = queueing.plan(now, seen.nodes, seen.running, seen.queued)
        started = [one.id for one in plan.admitted if _start(one, now)]
        if plan.waiting:
            _look_at_head_again(locked, now, LOOK_AGAIN)
        if started:
            count_gpus(locked)
        return started


def lock(cluster_id: str) -> Cluster:
    """Take the admission lock of a cluster: others may still insert jobs, nobody else may admit."""
    return (
        Cluster.objects.select_for_update(no_key=True, of=("self",))
        .select_related("node_type")
        .get(pk=cluster_id)
    )


def picture(cluster: Cluster, now: datetime) -> Picture:
    """Return what the queue of a cluster decides on."""
    return pictures([cluster], now)[cluster.pk]


def pictures(clusters: Sequence[Cluster], now: datetime) -> dict[str, Picture]:
    """Return the pictures of clusters whose node types are loaded: three queries, however many jobs wait."""
    found = {cluster.pk: Picture([], [], []) for cluster in clusters}
    by_id = {cluster.pk: cluster for cluster in clusters}
    nodes = Reservation.objects.filter(
        cluster__in=clusters, kind="cluster", span__contains=now, node__state__in=NODE_STATES
    )
    for cluster_id, name in nodes.order_by("node__name").values_list("cluster_id", "node__name"):
        size = by_id[cluster_id].node_type.gpus_per_node
        found[cluster_id].nodes.append(queueing.Node(name, size))
    held = Run.objects.filter(cluster__in=clusters, holds=True).select_related("job", "resume_from")
    for run in held:
        found[run.cluster_id].running.append(_running(run, by_id[run.cluster_id].ends_at, now))
    place = Window(RowNumber(), "cluster_id", ["-priority", "queued_at", "id"])
    heads = Job.objects.filter(cluster__in=clusters, status="queued").annotate(place=place)
    rows = Run.objects.filter(status="queued", job__in=heads.filter(place__lte=WINDOW).values("pk"))
    for run in rows.select_related("job"):
        found[run.cluster_id].queued.append(_queued(run))
    return found


def count_gpus(cluster: Cluster) -> None:
    """Write the GPUs in use, summed from the runs that hold them; the caller has the lock."""
    held = Run.objects.filter(cluster=cluster, holds=True)
    used = held.aggregate(sum=Sum(F("job__replicas") * F("job__gpus_per_replica")))["sum"] or 0
    Cluster.objects.filter(pk=cluster.pk).update(gpus_used=used)


def release(run_id: str, *, now: datetime) -> None:
    """Give the GPUs of a run back whose pods are gone. Again is no harm."""
    run = Run.objects.only("cluster_id").get(pk=run_id)
    with transaction.atomic():
        cluster = lock(run.cluster_id)
        if Run.objects.filter(pk=run_id, holds=True).update(holds=False):
            count_gpus(cluster)


def close_queue(cluster: Cluster, now: datetime) -> None:
    """Cancel what still waits for a cluster that takes no jobs any more."""
    for run in Run.objects.filter(cluster=cluster, status="queued").order_by("id")[:WINDOW]:
        ending.cancel_waiting(run.pk, code="cluster_over", now=now)


def _start(admission: queueing.Admission, now: datetime) -> bool:
    """Give a run its GPUs; False when a cancellation came first."""
    run = ending.lock(admission.id)
    if run.status != "queued":
        return False
    run.status, run.holds, run.why = "launching", True, None
    run.placement = [list(pair) for pair in admission.placement]
    run.due_at, run.attempts = now, 0
    run.save(update_fields=["status", "holds", "why", "placement", "due_at", "attempts"])
    Job.objects.filter(pk=run.job_id).update(status="launching", why=None)
    placement = ", ".join(f"{name} × {count}" for name, count in admission.placement)
    timeline.record(run.job, "admitted", run=run, now=now, placement=placement[:300])
    dispatch.after_commit("jobs.launch", run.pk)
    return True


def _leave(cluster: Cluster, now: datetime) -> None:
    """Note that the queue has been looked at: who still waits is not due by itself, retries are in time."""
    waiting = Run.objects.filter(cluster=cluster, status="queued", due_at__isnull=False)
    waiting.filter(Q(not_before=None) | Q(not_before__lte=now)).update(due_at=None)


def _look_at_head_again(cluster: Cluster, now: datetime, after: timedelta) -> None:
    """Keep one run of the queue due, so that the beat comes back to this cluster."""
    _leave(cluster, now)
    head = (
        Run.objects.filter(cluster=cluster, status="queued", job__status="queued", job__cluster=cluster)
        .order_by("-job__priority", "job__queued_at", "id")
        .values_list("pk", flat=True)[:1]
    )
    Run.objects.filter(pk__in=list(head), due_at=None).update(due_at=now + after)


def _running(run: Run, lease_end: datetime, now: datetime) -> queueing.Running:
    """Return a run that holds GPUs and when it ends: by its limit or the lease, sooner by its pace."""
    job = run.job
    start = run.started_at or run.launched_at or run.created_at
    earliest, latest = None, lease_end
    if job.max_runtime_seconds is not None:
        latest = min(lease_end, start + timedelta(seconds=job.max_runtime_seconds))
    begun = run.resume_from.step if run.resume_from is not None else 0
    end = eta.expected_end(
        begun=begun, step=job.step, total=job.total_steps, started_at=run.started_at, now=now
    )
    if end is not None and run.status == "running":
        earliest, latest = min(end.earliest, latest), min(end.latest, latest)
    placement = tuple((str(name), int(count)) for name, count in run.placement)
    return queueing.Running(run.pk, placement, job.gpus_per_replica, earliest, latest)


def _queued(run: Run) -> queueing.Queued:
    job = run.job
    return queueing.Queued(
        id=run.pk,
        priority=job.priority,
        queued_at=job.queued_at,
        replicas=job.replicas,
        gpus_per_replica=job.gpus_per_replica,
        limit_seconds=job.max_runtime_seconds,
        not_before=run.not_before,
    )
