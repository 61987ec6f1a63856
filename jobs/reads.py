"""Queries of training for pages and the API: through the organisation, by index, in a constant number."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Count, Prefetch, Q, QuerySet
from django.utils.translation import gettext as _

from accounts.models import Organisation
from clusters.models import Cluster, Site
from core import errors
from core.tenancy import TenantQuerySet
from jobs import queueing, shapes, states
from jobs.models import Checkpoint, Job, JobEvent, Run
from jobs.queueing import Waiting
from jobs.reasons import reason
from jobs.services import queue

OPEN = ("queued", "launching", "pending", "running")


def jobs(organisation: Organisation, filters: Mapping[str, str] | None = None) -> TenantQuerySet[Job]:
    """Return the jobs of an organisation with what a list shows; filters are named as the fields."""
    rows = Job.objects.for_org(organisation).select_related("project", "environment", "cluster__node_type")
    rows = rows.prefetch_related(
        Prefetch("runs", Run.objects.select_related("resume_from").order_by("number"))
    )
    for name, value in (filters or {}).items():
        match name:
            case "status":
                wanted = [word for word in value.split(",") if word]
                if unknown := [word for word in wanted if word not in states.JOB.states]:
                    raise errors.Invalid.field(
                        "status", "choice", _("%s is no status of a job.") % unknown[0]
                    )
                rows = rows.filter(status__in=wanted)
            case "cluster":
                rows = rows.filter(cluster_id=value)
            case "project":
                rows = rows.filter(project__slug=value)
            case "name":
                rows = rows.filter(name__icontains=value)
    return rows


def job(organisation: Organisation, job_id: str) -> Job:
    """Return one job of an organisation, or raise NotFound."""
    return jobs(organisation).get_or_404(job_id)


def waiting(rows: Iterable[Job], *, now: datetime) -> dict[str, Waiting]:
    """Return what the queues say of the queued jobs among these rows, by job id."""
    queued = [row for row in rows if row.status == "queued"]
    clusters = {row.cluster_id: row.cluster for row in queued}
    if not clusters:
        return {}
    run_of = {run.pk: row.pk for row in queued for run in row.runs.all() if run.status == "queued"}
    found: dict[str, Waiting] = {}
    for cluster_id, picture in queue.pictures(list(clusters.values()), now).items():
        for item in _plan(clusters[cluster_id], picture, now):
            if item.id in run_of:
                found[run_of[item.id]] = item
    return found


def _plan(cluster: Cluster, picture: queue.Picture, now: datetime) -> Sequence[Waiting]:
    """Return the waiting ones in queue order; who would be admitted this moment stands first in line."""
    if cluster.status != "ready":
        said = reason("cluster_not_ready")
        order = sorted(picture.queued, key=lambda one: (-one.priority, one.queued_at, one.id))
        return [Waiting(item.id, place, said, None) for place, item in enumerate(order, start=1)]
    plan = queueing.plan(now, picture.nodes, picture.running, picture.queued)
    next_ones = [
        Waiting(one.id, place, reason("admitted"), queueing.Estimate(now, now))
        for place, one in enumerate(plan.admitted, start=1)
    ]
    behind = len(next_ones)
    rest = [Waiting(one.id, one.position + behind, one.reason, one.estimate) for one in plan.waiting]
    return [*next_ones, *rest]


def shown(rows: Sequence[Job], *, now: datetime) -> list[dict[str, Any]]:
    """Return jobs as the API shows them."""
    said = waiting(rows, now=now)
    return [shapes.job(row, list(row.runs.all()), said.get(row.pk), now=now) for row in rows]


def counts(organisation: Organisation) -> dict[str, int]:
    """Return how many jobs are open, by status: what a home page and tabs show."""
    rows = Job.objects.for_org(organisation).filter(status__in=OPEN).values_list("status")
    return dict(rows.annotate(number=Count("pk")))


def runs_on(cluster: Cluster) -> list[Run]:
    """Return the runs that hold GPUs of a cluster, with their jobs: what its grid of squares draws."""
    return list(Run.objects.filter(cluster=cluster, holds=True).select_related("job").order_by("id"))


def events(row: Job) -> QuerySet[JobEvent]:
    """Return the timeline of a job, oldest first."""
    return JobEvent.objects.filter(job=row).order_by("pk")


def checkpoints(row: Job, *, complete_only: bool = False) -> QuerySet[Checkpoint]:
    """Return the checkpoints of a job, those whose files are gone left out."""
    found = Checkpoint.objects.filter(Checkpoint.there(), job=row)
    return found.filter(complete=True) if complete_only else found


def resumable(row: Job) -> list[Checkpoint]:
    """Return the checkpoints that a person may resume from, newest run and highest step first."""
    return list(
        checkpoints(row, complete_only=True).select_related("run").order_by("-run__number", "-step")[:200]
    )


def run_of(row: Job, run_id: str | None) -> Run | None:
    """Return the named run of a job, or its latest; NotFound for a run of another job."""
    rows = Run.objects.filter(job=row)
    if not run_id:
        return rows.order_by("-number").first()
    found = rows.filter(Q(pk=run_id)).first()
    if found is None:
        raise errors.NotFound(_("This job has no such run."))
    return found


def backends(organisation: Organisation) -> list[str]:
    """Return the backends of the sites where an organisation has clusters; of all sites while it has none."""
    mine = Cluster.objects.for_org(organisation).exclude(status__in=("released", "cancelled"))
    found = set(mine.values_list("site__backend", flat=True).distinct())
    return sorted(found or set(Site.objects.filter(active=True).values_list("backend", flat=True)))
