"""Clusters of a customer: the list, and a page that joins the lease with what runs on it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from accounts.views.base import PageRequest, page, refuse
from clusters import reads, states, words
from clusters.models import Cluster, Node, Reservation
from clusters.reads import ClusterPage
from clusters.services import clusters as changes
from core import errors
from core.rest import pagination
from jobs import reads as job_reads
from jobs.models import Run
from portal.ui import occupancy

PER_PAGE = 25
JOBS_SHOWN = 20


@require_safe
@page("clusters:read")
def index(request: PageRequest) -> HttpResponse:
    """List clusters: living ones as cards with their squares, the others as a table."""
    organisation = request.access.organisation
    living = list(reads.open_clusters(organisation)[:PER_PAGE])
    closed = reads.clusters(organisation).filter(status__in=states.CLOSED)
    shown = pagination.paginate(closed, request.GET, default_limit=PER_PAGE)
    return render(
        request,
        "portal/clusters.html",
        {
            "now": timezone.now(),
            "living": cards(living),
            "page": shown,
            "page_cursor": request.GET.get("cursor", ""),
            "may_rent": request.access.allows("billing:write"),
        },
    )


@require_safe
@page("clusters:read")
def show(request: PageRequest, cluster_id: str) -> HttpResponse:
    """Show one cluster."""
    return render(request, "portal/cluster.html", _context(request, cluster_id))


@require_safe
@page("clusters:read")
def live(request: PageRequest, cluster_id: str) -> HttpResponse:
    """Answer the parts that change by themselves; another state reloads the page."""
    context = _context(request, cluster_id)
    if request.GET.get("seen") != context["cluster"].status:
        return HttpResponse(headers={"HX-Refresh": "true"})
    return render(request, "portal/parts/cluster_live.html", context)


@require_POST
@page("clusters:write")
def change(request: PageRequest, cluster_id: str) -> HttpResponse:
    """Rename a cluster."""
    cluster = reads.clusters(request.access.organisation).get_or_404(cluster_id)
    name = request.POST.get("name", "").strip()
    try:
        if not 1 <= len(name) <= 100:
            raise errors.Invalid(_("A name has 1 to 100 characters."))
        changes.change(cluster=cluster, name=name, actor=request.access.actor, now=timezone.now())
    except errors.BerthError as error:
        refuse(request, error)
    return redirect("cluster", cluster_id=cluster_id)


def _context(request: PageRequest, cluster_id: str) -> dict[str, Any]:
    organisation, now = request.access.organisation, timezone.now()
    shown = reads.cluster_page(organisation, cluster_id)
    cluster = shown.cluster
    runs = job_reads.runs_on(cluster)
    jobs = list(job_reads.jobs(organisation, {"cluster": cluster.pk}).order_by("-pk")[:JOBS_SHOWN])
    picture = occupancy.picture(cluster, shown.nodes, runs)
    return {
        "now": now,
        "cluster": cluster,
        "shown": shown,
        "boxes": picture.boxes,
        "keys": picture.keys,
        "jobs": jobs,
        "truth": truth(shown, now),
        "message": words.message(cluster.message) if cluster.message else "",
        "events": [_event(row) for row in reversed(shown.events)],
        "live": cluster.status not in states.CLOSED,
        "steps": _steps(cluster),
        "may_submit": request.access.allows("jobs:write")
        and cluster.status in ("scheduled", "provisioning", "ready"),
        "may_change": request.access.allows("clusters:write"),
        "embedded_site": cluster.site.backend == "embedded",
    }


def cards(rows: Sequence[Cluster]) -> list[dict[str, Any]]:
    """Return clusters for cards, each with its squares: two queries, however many there are."""
    nodes: dict[str, list[Node]] = {row.pk: [] for row in rows}
    taken = Reservation.objects.filter(cluster__in=rows, kind="cluster").select_related("node")
    for reservation in taken.order_by("node__name"):
        nodes[str(reservation.cluster_id)].append(reservation.node)
    runs: dict[str, list[Run]] = {row.pk: [] for row in rows}
    for run in Run.objects.filter(cluster__in=rows, holds=True).select_related("job").order_by("id"):
        runs[run.cluster_id].append(run)
    return [
        {
            "row": row,
            "gpus": reads.gpus(row),
            "free": reads.free_gpus(row),
            "boxes": occupancy.picture(row, nodes[row.pk], runs[row.pk]).boxes,
        }
        for row in rows
    ]


def _event(row: Any) -> dict[str, Any]:
    return {"at": row.at, "text": words.event(row.kind, row.message), "actor": row.actor}


def truth(shown: ClusterPage, now: datetime) -> dict[str, Any]:
    """Return the figures of the one sentence under the title."""
    cluster = shown.cluster
    return {
        "status": cluster.status,
        "left": max(cluster.ends_at - now, cluster.ends_at - cluster.ends_at),
        "free": shown.gpus_free,
        "gpus": shown.gpus,
        "since": cluster.ready_at or cluster.state_since,
        "elapsed": now - cluster.state_since,
    }


def _steps(cluster: Cluster) -> list[dict[str, Any]]:
    """Return the way of a cluster that is on its way to ready; nothing for others."""
    order = ["held", "scheduled", "provisioning", "ready"]
    if cluster.status not in order[:3]:
        return []
    here = order.index(cluster.status)
    names = {
        "held": _("Held until paid"),
        "scheduled": _("Waits for its start"),
        "provisioning": _("Servers are set up"),
        "ready": _("Ready"),
    }
    notes = {
        "held": _("you have the time shown at the checkout"),
        "scheduled": _("starts by itself"),
        "provisioning": _("usually under a minute"),
        "ready": "",
    }
    return [
        {
            "name": names[word],
            "state": "done" if index < here else "now" if index == here else "",
            "note": notes[word] if index == here else "",
        }
        for index, word in enumerate(order)
    ]
