"""Reads the price book into plain values: the list valid at an instant, volume tiers, taxes."""

from collections.abc import Iterable
from datetime import datetime
from fractions import Fraction

from django.db import transaction

from billing import pricing
from billing.models import Price, TaxRate, VolumeTier
from clusters.models import NodeType


def price_list(node_type: NodeType, currency: str, at: datetime) -> pricing.PriceList:
    """Return what a node of this type costs at an instant; empty when nobody set a price."""
    return price_lists([node_type], currency, at)[node_type.pk]


def price_lists(node_types: Iterable[NodeType], currency: str, at: datetime) -> dict[str, pricing.PriceList]:
    """Return the price list of each type by its id, in one query."""
    amounts: dict[str, dict[str, int]] = {node_type.pk: {} for node_type in node_types}
    rows = Price.objects.filter(node_type__in=list(amounts), currency=currency, valid__contains=at)
    for row in rows:
        amounts[row.node_type_id][row.unit] = row.amount
    return {pk: pricing.PriceList(currency, found) for pk, found in amounts.items()}


def tiers() -> tuple[pricing.Tier, ...]:
    """Return all volume tiers, the smallest first."""
    rows = VolumeTier.objects.order_by("min_gpus")
    return tuple(pricing.Tier(row.min_gpus, Fraction(row.percent)) for row in rows)


def taxes(country: str) -> tuple[pricing.Tax, ...]:
    """Return the taxes that customers of a country pay."""
    return tuple(
        pricing.Tax(row.title, Fraction(row.percent)) for row in TaxRate.objects.filter(country=country)
    )


def set_price(
    *, node_type: NodeType, unit: str, currency: str, amount: int, from_: datetime, is_demo: bool = False
) -> Price:
    """Set a price from an instant on: the one before it ends there, one that stands already is kept."""
    with transaction.atomic():
        rows = Price.objects.select_for_update().filter(node_type=node_type, unit=unit, currency=currency)
        current = rows.filter(valid__contains=from_).first()
        if current is not None and current.amount == amount:
            return current
        rows.filter(valid__startswith__gte=from_).delete()
        if current is not None and current.valid.lower < from_:
            current.valid = (current.valid.lower, from_)
            current.save(update_fields=["valid"])
        return Price.objects.create(
            node_type=node_type,
            unit=unit,
            currency=currency,
            amount=amount,
            valid=(from_, None),
            is_demo=is_demo,
        )


def has_demo_prices(at: datetime) -> bool:
    """Say whether a price in force is invented: pages that show prices then say so."""
    return Price.objects.filter(is_demo=True, valid__contains=at).exists()
