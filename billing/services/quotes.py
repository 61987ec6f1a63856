"""Makes quotes: immutable priced offers with an expiry. A preview is the same without a row."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from accounts.models import Organisation, User
from accounts.services import audit
from billing import periods, pricing
from billing.models import Quote
from billing.services import prices
from clusters.models import Node, NodeType, Site
from core import errors
from core.actors import Actor
from core.errors import FieldError
from core.money import CURRENCIES

MAX_NODES = 1024
FARTHEST_START = timedelta(days=366)
PAST_GRACE = timedelta(minutes=1)


def create(
    *,
    organisation: Organisation,
    node_type: str,
    site: str,
    nodes: int,
    term: Mapping[str, Any],
    starts_at: datetime | None = None,
    currency: str | None = None,
    user: User | None,
    actor: Actor,
    idempotency_key: str | None = None,
    now: datetime,
) -> Quote:
    """Store a quote; with a key that made one already, return that one. Raises Invalid with field errors."""
    if (made := _made(organisation, idempotency_key)) is not None:
        return made
    quote = preview(
        organisation=organisation,
        node_type=node_type,
        site=site,
        nodes=nodes,
        term=term,
        starts_at=starts_at,
        currency=currency,
        now=now,
    )
    quote.created_by, quote.idempotency_key = user, idempotency_key
    try:
        with transaction.atomic():
            quote.save(force_insert=True)
            after = {
                "node_type": quote.node_type.slug,
                "site": quote.site.slug,
                "nodes": nodes,
                "term": quote.term.as_dict(),
                "total": quote.total,
                "currency": quote.currency,
            }
            audit.record(
                actor=actor,
                action="quote.created",
                target=quote,
                organisation=organisation,
                after=after,
                now=now,
            )
    except IntegrityError:
        if (made := _made(organisation, idempotency_key)) is None:
            raise
        return made
    return quote


def preview(
    *,
    organisation: Organisation | None,
    node_type: str,
    site: str,
    nodes: int,
    term: Mapping[str, Any],
    starts_at: datetime | None = None,
    currency: str | None = None,
    now: datetime,
) -> Quote:
    """Return a quote that is not stored: what the rent page shows while one chooses.

    Without an organisation it is priced in the seller's zone and country.
    """
    faults: list[FieldError] = []
    kind = _one_of(NodeType.objects.filter(offered=True).select_related("gpu_model"), node_type)
    place = _one_of(Site.objects.filter(active=True), site)
    if kind is None:
        faults.append(FieldError("node_type", "unknown", _("There is no node type of this name.")))
    if place is None:
        faults.append(FieldError("site", "unknown", _("There is no site of this name.")))
    if not 1 <= nodes <= MAX_NODES:
        detail = _("Choose from 1 to {most} nodes.").format(most=MAX_NODES)
        faults.append(FieldError("nodes", "min" if nodes < 1 else "max", detail))
    faults += _term_faults(term)
    faults += _start_faults(starts_at, now)
    currency = currency or (organisation.currency if organisation else CURRENCIES[0])
    faults += _currency_faults(currency, organisation)
    if kind and place and not _offered(kind, place):
        detail = _("This site has no nodes of this type. Choose another site.")
        faults.append(FieldError("site", "not_offered", detail))
    if faults or kind is None or place is None:
        raise errors.Invalid(faults[0].detail, errors=faults)
    return _priced(organisation, kind, place, nodes, _term(term), starts_at, currency, now)


def _priced(
    organisation: Organisation | None,
    node_type: NodeType,
    site: Site,
    nodes: int,
    term: periods.Term,
    starts_at: datetime | None,
    currency: str,
    now: datetime,
) -> Quote:
    zone = organisation.zone if organisation else settings.SELLER["zone"]
    country = organisation.country if organisation else settings.SELLER["country"]
    start = now if starts_at is None else max(starts_at, now)
    listed = prices.price_list(node_type, currency, now)
    if listed.cost(term) is None:
        detail = _("{node_type} is not sold by this unit in {currency}.").format(
            node_type=node_type.slug, currency=currency
        )
        raise errors.Invalid.field("term.unit", "not_sold", detail)
    goods = pricing.Goods(
        node_type.slug, nodes, node_type.gpus_per_node, prices.tiers(), prices.taxes(country)
    )
    offer = pricing.offer(goods, term, listed)
    named = pricing.cheaper(goods, term, listed, start, zone)
    (unit, count), *then = term.parts
    expires_at = now + settings.QUOTE_LIFETIME
    return Quote(
        organisation=organisation,
        node_type=node_type,
        site=site,
        nodes=nodes,
        term_unit=unit,
        term_count=count,
        term_then=[{"unit": unit, "count": count} for unit, count in then],
        starts_at=start,
        starts_now=start == now,
        ends_at=periods.end(start, term, zone),
        zone=zone,
        currency=currency,
        lines=[line.as_dict() for line in offer.lines],
        subtotal=offer.subtotal,
        discount=offer.discount,
        tax=offer.tax,
        total=offer.total,
        cheaper=named and {"term": named.term.as_dict(), "total": named.total},
        prices=dict(listed.amounts),
        created_at=now,
        expires_at=expires_at if start == now else min(expires_at, start),
    )


def _made(organisation: Organisation, key: str | None) -> Quote | None:
    if key is None:
        return None
    return Quote.objects.for_org(organisation).filter(idempotency_key=key).first()


def _one_of(rows: Any, name: str) -> Any:
    """Return the row whose id or slug this is."""
    return rows.filter(pk=name).first() or rows.filter(slug=name).first()


def _offered(node_type: NodeType, site: Site) -> bool:
    return Node.objects.filter(site=site, node_type=node_type).exclude(state="retired").exists()


def _term(term: Mapping[str, Any]) -> periods.Term:
    return periods.from_parts([term, *term.get("then", ())])


def _term_faults(term: Mapping[str, Any]) -> list[FieldError]:
    faults = []
    seen: set[str] = set()
    for place, part in [("term", term), *((f"term.then.{i}", p) for i, p in enumerate(term.get("then", ())))]:
        unit, count = part.get("unit"), part.get("count")
        if unit not in periods.UNITS:
            detail = _("A term is counted in day, month or year.")
            faults.append(FieldError(f"{place}.unit", "unknown", detail))
            continue
        most = periods.MAX_COUNT[unit]
        if not isinstance(count, int) or not 1 <= count <= most:
            detail = _("Choose a count from 1 to {most}.").format(most=most)
            code = "max" if isinstance(count, int) and count > most else "min"
            faults.append(FieldError(f"{place}.count", code, detail))
        if unit in seen:
            detail = _("Each unit may stand in a term once.")
            faults.append(FieldError(f"{place}.unit", "repeated", detail))
        seen.add(unit)
    return faults


def _start_faults(starts_at: datetime | None, now: datetime) -> list[FieldError]:
    if starts_at is None:
        return []
    if starts_at < now - PAST_GRACE:
        detail = _("The start lies in the past. Leave it out to start now.")
        return [FieldError("starts_at", "past", detail)]
    if starts_at > now + FARTHEST_START:
        detail = _("A start can be booked up to one year ahead.")
        return [FieldError("starts_at", "too_far", detail)]
    return []


def _currency_faults(currency: str, organisation: Organisation | None) -> list[FieldError]:
    if currency not in CURRENCIES:
        detail = _("Prices are in {currencies}.").format(currencies=", ".join(CURRENCIES))
        return [FieldError("currency", "unknown", detail)]
    if organisation and organisation.terms_fixed_at and currency != organisation.currency:
        detail = _("Your organisation pays in {currency}; this is fixed since its first order.").format(
            currency=organisation.currency
        )
        return [FieldError("currency", "fixed", detail)]
    return []
