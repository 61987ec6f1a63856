"""The rent page: choices on the left, a quote that follows them on the right; and the catalogue."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.models import Organisation
from accounts.views.base import PageRequest, page
from billing import periods, pricing, wording
from billing.models import Quote
from billing.services import orders, prices, quotes
from billing.views import choice as choices
from billing.views.choice import Choice
from clusters.models import NodeType, Site
from clusters.services import catalogue
from clusters.services.bookings import SoldOut
from core import calendar, errors
from core.money import CURRENCIES


@dataclass(frozen=True, slots=True)
class Row:
    """A server type as the table shows it; prices are minor units per GPU-hour by unit."""

    type: NodeType
    name: str
    per_hour: dict[str, int | None]
    free: int
    sites: list[str]


def public(request: HttpRequest) -> HttpResponse:
    """Show what is offered to anybody; prices in a currency of choice."""
    asked = request.GET.get("currency", CURRENCIES[0])
    currency = asked if asked in CURRENCIES else CURRENCIES[0]
    now = timezone.now()
    shown = {"rows": _rows(currency, now), "currency": currency, "currencies": CURRENCIES}
    return render(request, "billing/catalogue.html", shown | {"demo_prices": prices.has_demo_prices(now)})


@page("catalog:read")
def show(request: PageRequest) -> HttpResponse:
    """Show the choices, or hold what was chosen."""
    if request.method == "POST":
        return _hold(request)
    return render(request, "billing/rent.html", _context(request))


@require_safe
@page("catalog:read")
def quote(request: PageRequest) -> HttpResponse:
    """Answer a change of the choices with the quote alone."""
    context = _context(request)
    answer = render(request, "billing/parts/quote.html", context | {"alone": True})
    if context["chosen"] is not None:
        answer["HX-Replace-Url"] = f"{request.path.removesuffix('/quote')}?{context['query']}"
    return answer


def _hold(request: PageRequest) -> HttpResponse:
    """Make the quote and hold its nodes: the payment is chosen at the checkout, while the timer runs."""
    access, now = request.access, timezone.now()
    access.require("billing:write")
    context = _context(request, request.POST)
    chosen: Choice | None = context["chosen"]
    if chosen is None:
        return render(request, "billing/rent.html", context, status=422)
    try:
        made = quotes.create(
            organisation=access.organisation,
            node_type=chosen.node_type,
            site=chosen.site,
            nodes=chosen.nodes,
            term=chosen.term,
            starts_at=chosen.starts_at,
            currency=chosen.currency,
            user=access.user,
            actor=access.actor,
            idempotency_key=request.key,
            now=now,
        )
        order = orders.place(
            organisation=access.organisation,
            quote_id=made.pk,
            method=None,
            name=request.POST.get("name", "")[:100],
            user=access.user,
            actor=access.actor,
            idempotency_key=request.key,
            now=now,
        )
    except SoldOut as error:
        context |= {"sold_out": error, "next_query": _next_query(chosen, error, context["zone"])}
        return render(request, "billing/rent.html", context, status=409)
    except errors.BerthError as error:
        return render(request, "billing/rent.html", context | {"refused": error}, status=error.status)
    return redirect("billing:order", order_id=order.pk)


def _next_query(chosen: Choice, error: SoldOut, zone: str) -> str:
    return chosen.query(zone, starts_at=error.next_start) if error.next_start else ""


def _context(request: PageRequest, query: Any = None) -> dict[str, Any]:
    organisation, now = request.access.organisation, timezone.now()
    query = request.GET if query is None else query
    currency = _currency(organisation, query.get("currency", ""))
    rows = _rows(currency, now)
    chosen, row = _chosen(query, rows, organisation.zone, currency)
    context: dict[str, Any] = {
        "now": now,
        "rows": rows,
        "row": row,
        "chosen": chosen,
        "currency": currency,
        "currencies": [] if organisation.terms_fixed_at else CURRENCIES,
        "zone": organisation.zone,
        "gpus": 0,
        "units": periods_in_words(),
        "may_rent": request.access.allows("billing:write"),
        "hold_minutes": int(settings.HOLD_TIME.total_seconds() // 60),
        "demo_prices": prices.has_demo_prices(now),
        "name": query.get("name", "")[:100],
    }
    if chosen is None or row is None:
        return context
    every = list(catalogue.sites())
    sites = [site for site in every if site.slug in row.sites]
    context |= {
        "sites": every,
        "sizes": choices.SIZES,
        "preset": _preset(chosen, row.type),
        "gpus": chosen.nodes * row.type.gpus_per_node,
        "start_text": _start_text(chosen, organisation.zone, now),
        "query": chosen.query(organisation.zone),
    }
    return context | _offer(organisation, chosen, row, sites, now)


def _preset(chosen: Choice, node_type: NodeType) -> int | None:
    """Return the preset of GPUs that a choice equals."""
    return next((gpus for gpus, nodes in choices.sizes(node_type) if nodes == chosen.nodes), None)


def periods_in_words() -> list[tuple[str, str]]:
    """Return the units of rent with their words."""
    return [("day", _("Days")), ("month", _("Months")), ("year", _("Years"))]


def _start_text(chosen: Choice, zone: str, now: datetime) -> str:
    return calendar.local(chosen.starts_at or now, zone).strftime(choices.LOCAL_TIME)


def _offer(
    organisation: Organisation, chosen: Choice, row: Row, sites: list[Site], now: datetime
) -> dict[str, Any]:
    """Return the quote of a choice and what stands beside it, or the faults of the choice."""
    try:
        made = quotes.preview(
            organisation=organisation,
            node_type=chosen.node_type,
            site=chosen.site,
            nodes=chosen.nodes,
            term=chosen.term,
            starts_at=chosen.starts_at,
            currency=chosen.currency,
            now=now,
        )
    except errors.Invalid as error:
        return {"faults": [fault.detail for fault in error.errors] or [error.detail]}
    site = next(site for site in sites if site.slug == chosen.site)
    free = catalogue.available(
        site=site, node_type=row.type, nodes=chosen.nodes, starts_at=made.starts_at, ends_at=made.ends_at
    )
    return {
        "quote": made,
        "lines": described(made),
        "per_gpu_hour": _effective(made, row.type),
        "saved": _saved(made),
        "availability": free,
        "next_query": chosen.query(organisation.zone, starts_at=free.next_start) if free.next_start else "",
        "amounts": {unit: amount * chosen.nodes for unit, amount in made.prices.items()},
        "chosen_days": (made.ends_at - made.starts_at).total_seconds() / 86400,
        "cheaper": _cheaper(made, chosen, organisation.zone),
    }


def described(made: Quote) -> list[dict[str, Any]]:
    """Return the lines of a quote with their descriptions in the reader's language."""
    return [line | {"text": wording.line(line["key"], line["params"])} for line in made.lines]


def _effective(made: Quote, node_type: NodeType) -> int:
    """Return what a GPU-hour really costs before tax, over the whole span; for show."""
    hours = (made.ends_at - made.starts_at).total_seconds() / 3600
    whole = hours * made.nodes * node_type.gpus_per_node
    return round((made.subtotal - made.discount) / whole) if whole else 0


def _saved(made: Quote) -> int:
    """Return how much less the term costs than the same span by day, before tax."""
    if "day" not in made.prices:
        return 0
    days = calendar.day_count(made.starts_at, made.ends_at, made.zone)
    by_day: int = made.prices["day"] * days * made.nodes
    return by_day - made.subtotal


def _cheaper(made: Quote, chosen: Choice, zone: str) -> dict[str, Any] | None:
    if not made.cheaper:
        return None
    term = made.cheaper["term"]
    instead = periods.from_parts([term, *term.get("then", ())])
    (unit, count), *then = instead.parts
    return {
        "text": wording.cheaper(made.term, instead),
        "total": made.cheaper["total"],
        "less": made.total - made.cheaper["total"],
        "query": chosen.query(zone, unit=unit, count=count, then=tuple(then)),
    }


def _chosen(query: Any, rows: list[Row], zone: str, currency: str) -> tuple[Choice, Row] | tuple[None, None]:
    usable = [row for row in rows if row.sites]
    if not usable:
        return None, None
    asked = query.get("type", "")
    row = next((row for row in usable if row.type.slug == asked), None) or _default(usable)
    return choices.read(query, row.type, row.sites, zone, currency), row


def _default(rows: list[Row]) -> Row:
    """Return the type to begin with: one of eight GPUs with most of them free."""
    return max(rows, key=lambda row: (row.type.gpus_per_node == 8, row.free))


def _currency(organisation: Organisation, asked: str) -> str:
    if organisation.terms_fixed_at or asked not in CURRENCIES:
        return organisation.currency
    return asked


def _rows(currency: str, now: datetime) -> list[Row]:
    types = list(catalogue.node_types().order_by("gpu_model__position", "gpus_per_node"))
    listed = prices.price_lists(types, currency, now)
    where = catalogue.site_slugs()
    free: dict[str, int] = {}
    for (_site, kind), count in catalogue.free_now(now).items():
        free[kind] = free.get(kind, 0) + count
    return [
        Row(
            type=kind,
            name=kind.gpu_model.name.removeprefix(f"{kind.gpu_model.vendor} "),
            per_hour=_per_hour(listed[kind.pk], kind),
            free=free.get(kind.pk, 0) * kind.gpus_per_node,
            sites=where.get(kind.pk, []),
        )
        for kind in types
    ]


def _per_hour(listed: pricing.PriceList, kind: NodeType) -> dict[str, int | None]:
    return {
        unit: pricing.per_gpu_hour(listed.amounts[unit], unit, kind.gpus_per_node)
        if unit in listed.amounts
        else None
        for unit in pricing.HOURS
    }
