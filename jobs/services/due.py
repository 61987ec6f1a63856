"""What the beat does: rows whose time has come are found by their index and taken one step further."""

from datetime import datetime, timedelta

from django.db import transaction

from clusters.models import Cluster
from core import dispatch
from jobs import states
from jobs.models import Run
from jobs.services import control, ending, hours, launch, observe, pruning, queue, settle, timeline

BATCH = 500
LEASE = timedelta(seconds=30)  # a hint that is lost is sent again after this


def process(*, now: datetime) -> int:
    """Send a hint for each run, ending cluster and removal that is due; return how many runs were."""
    for cluster_id in Cluster.objects.filter(status="draining", due_at__isnull=False).values_list(
        "pk", flat=True
    ):
        drain(cluster_id, now=now)
    rows = list(
        Run.objects.filter(due_at__lte=now)
        .order_by("due_at")
        .values_list("pk", "status", "cluster_id")[:BATCH]
    )
    Run.objects.filter(pk__in=[pk for pk, _, _ in rows], due_at__lte=now).update(due_at=now + LEASE)
    for cluster_id in sorted({cluster for _, status, cluster in rows if status == "queued"}):
        dispatch.after_commit("jobs.admit", cluster_id)
    for pk, status, _ in rows:
        if status != "queued":
            dispatch.after_commit("jobs.step", pk)
    for job_id in pruning.waiting(now=now):
        dispatch.after_commit("jobs.prune", job_id)
    return len(rows)


def step(run_id: str, *, now: datetime) -> None:
    """Take one run one step further, whatever that is now."""
    run = Run.objects.select_related("job").filter(pk=run_id).first()
    if run is None:
        return
    if run.status in states.RUN.final:
        settle.settle(run_id, now=now)
    elif run.status == "queued":
        queue.admit(run.cluster_id, now=now)
    elif run.stop:
        settle.carry_out_stop(run_id, now=now)
    elif run.status == "launching":
        launch.launch(run_id, now=now)
    elif run.status == "pending":
        if run.launched_at is not None and now >= run.launched_at + observe.START_LIMIT:
            observe.never_started(run_id, now=now)
    else:
        _running(run_id, now=now)


def drain(cluster_id: str, *, now: datetime) -> None:
    """Stop the runs of a cluster that ends, with SIGTERM and their grace, and empty its queue."""
    cluster = Cluster.objects.get(pk=cluster_id)
    queue.close_queue(cluster, now)
    on_it = Run.objects.filter(cluster=cluster, status__in=states.RUN_ON_CLUSTER, stop="")
    for run_id in list(on_it.values_list("pk", flat=True)):
        with transaction.atomic():
            run = ending.lock(run_id)
            if run.stop or run.status not in states.RUN_ON_CLUSTER:
                continue
            timeline.record(run.job, "cluster_ends", run=run, now=now)
            control.stop_run(run, "cluster", now=now)


def _running(run_id: str, *, now: datetime) -> None:
    """Count the hours of a running run so far, and end it when its time is up."""
    with transaction.atomic():
        run = ending.lock(run_id)
        if run.status != "running" or run.stop or run.started_at is None:
            return
        limit = run.job.max_runtime_seconds
        if limit is not None and now >= run.started_at + timedelta(seconds=limit):
            timeline.record(run.job, "deadline", run=run, now=now, seconds=limit)
            control.stop_run(run, "deadline", now=now)
            return
        run.gpu_seconds = hours.write(run, until=now)
        run.metered_until = now
        run.due_at = observe.next_due(run, now)
        run.save(update_fields=["gpu_seconds", "metered_until", "due_at"])
