"""Jobs of an organisation: a list with filters."""

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from accounts.models import Project
from accounts.views.base import PageRequest, page
from clusters import reads as cluster_reads
from core.rest import pagination
from jobs import reads, states

PER_PAGE = 25
FILTERS = ("status", "cluster", "project", "name")
OPEN = ",".join(reads.OPEN)


@require_safe
@page("jobs:read")
def index(request: PageRequest) -> HttpResponse:
    """List jobs, newest first; unknown values of filters are left out."""
    organisation, now = request.access.organisation, timezone.now()
    filters = {name: request.GET[name] for name in FILTERS if request.GET.get(name)}
    if not set(filters.get("status", "").split(",")) <= {*states.JOB.states, ""}:
        del filters["status"]
    shown = pagination.paginate(reads.jobs(organisation, filters), request.GET, default_limit=PER_PAGE)
    waiting = reads.waiting(shown.items, now=now)
    clusters = list(cluster_reads.clusters(organisation)[:50])
    return render(
        request,
        "jobs/index.html",
        {
            "page": shown,
            "page_cursor": request.GET.get("cursor", ""),
            "jobs": shown.items,
            "waiting": waiting,
            "filters": {name: filters.get(name, "") for name in FILTERS},
            "filtered": bool(filters),
            "statuses": states.JOB.states,
            "open_statuses": OPEN,
            "clusters": clusters,
            "projects": Project.objects.for_org(organisation).order_by("slug"),
            "may_submit": request.access.allows("jobs:write"),
            "refresh": any(job.status in reads.OPEN for job in shown.items),
        },
    )
