"""A first overview for staff: nodes over time, orders, customers. Nobody else finds these pages."""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import wraps
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.models import Organisation
from accounts.views.base import signed_in
from billing import reads as billing_reads
from billing import states as billing_states
from clusters import reads, states
from clusters.models import NodeType, Site
from core.rest import pagination
from portal.ui import bars, words
from portal.ui import states as ui_states

PER_PAGE = 50
SPANS = (7, 14, 30, 90)  # days
DOWN = ("failed", "repair", "maintenance", "burn_in", "draining", "cordoned")


def staff(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponseBase]:
    """Let in staff; a customer finds nothing here."""

    @signed_in
    @wraps(view)
    def inner(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.user.is_staff:
            raise Http404
        return view(request, *args, **kwargs)

    return inner


@require_safe
@staff
def nodes(request: HttpRequest) -> HttpResponse:
    """Show nodes down and time across, of one site and type."""
    now = timezone.now()
    sites = list(Site.objects.order_by("slug"))
    types = list(NodeType.objects.order_by("position", "slug"))
    site = next((one for one in sites if one.slug == request.GET.get("site")), sites[0] if sites else None)
    kind = next((one for one in types if one.slug == request.GET.get("type")), None)
    days = _days(request.GET.get("days", ""))
    start, end = now - timedelta(days=1), now + timedelta(days=days)
    shown = reads.timeline(site=site, node_type=kind, start=start, end=end, limit=200) if site else None
    return render(
        request,
        "portal/staff/nodes.html",
        {
            "now": now,
            "start": start,
            "end": end,
            "days": days,
            "spans": SPANS,
            "sites": sites,
            "site": site,
            "types": types,
            "kind": kind,
            "lanes": [_lane(row, start, end) for row in shown.rows] if shown else [],
            "states": sorted(shown.states.items()) if shown else [],
            "counts": reads.fleet_counts(),
            "label": _("Nodes over time"),
        },
    )


@require_safe
@staff
def orders(request: HttpRequest) -> HttpResponse:
    """List the orders of all customers, newest first."""
    rows = billing_reads.all_orders()
    status = request.GET.get("status", "")
    if status in billing_states.ORDER.states:
        rows = rows.filter(status=status)
    shown = pagination.paginate(rows, request.GET, default_limit=PER_PAGE)
    context = {"page": shown, "page_cursor": request.GET.get("cursor", ""), "status": status}
    return render(request, "portal/staff/orders.html", context | {"statuses": billing_states.ORDER.states})


@require_safe
@staff
def customers(request: HttpRequest) -> HttpResponse:
    """List organisations with their people and what they rent."""
    word = request.GET.get("name", "").strip()[:100]
    rows: QuerySet[Organisation] = Organisation.objects.annotate(
        people=Count("members", distinct=True),
        living=Count("clusters", filter=Q(clusters__status__in=states.LIVE), distinct=True),
        everything=Count("clusters", distinct=True),
    )
    if word:
        rows = rows.filter(name__icontains=word)
    shown = pagination.paginate(rows, request.GET, default_limit=PER_PAGE)
    context = {"page": shown, "page_cursor": request.GET.get("cursor", ""), "word": word}
    return render(request, "portal/staff/customers.html", context)


def _days(given: str) -> int:
    return int(given) if given.isdigit() and int(given) in SPANS else SPANS[1]


def _lane(row: reads.NodeRow, start: datetime, end: datetime) -> bars.Lane:
    slots = [_slot(bar, end) for bar in row.bars]
    if row.node.state in DOWN:
        state = ui_states.look("node", row.node.state).word
        title = f"{row.node.name}: {state} · {row.node.state_reason or '–'}"
        slots.append(bars.Slot(max(row.node.state_since, start), end, "down", title))
    return bars.Lane(row.node.name, slots)


def _slot(bar: reads.Bar, end: datetime) -> bars.Slot:
    cluster = bar.cluster
    until = bar.end or end
    kind = bar.kind
    if kind == "cluster":
        kind = "hold" if cluster is not None and cluster.status == "held" else "lease"
    who = f"{cluster.organisation.name} · {cluster.name}" if cluster is not None else _kind_word(bar.kind)
    title = f"{_kind_word(kind)}: {who}, {words.exact(bar.start)} – {words.exact(until)}"
    return bars.Slot(bar.start, until, kind, title)


def _kind_word(kind: str) -> str:
    return {
        "lease": _("lease"),
        "hold": _("hold"),
        "maintenance": _("maintenance"),
        "turnaround": _("turnaround"),
    }.get(kind, kind)
