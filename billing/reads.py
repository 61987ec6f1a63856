"""What pages and the API read: prices, orders, invoices. The number of queries never grows with the rows."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Prefetch, QuerySet

from accounts.models import Organisation
from billing import pricing
from billing.models import Invoice, Order, Payment, Price, Quote
from billing.services import prices
from clusters.models import Node, NodeType
from core.money import CURRENCIES, Money
from core.tenancy import TenantQuerySet


@dataclass(frozen=True, slots=True)
class UnitPrice:
    """A node's price for one unit of time, and the same per GPU-hour for show."""

    unit: str
    per_node: Money
    per_gpu_hour: Money


@dataclass(frozen=True, slots=True)
class Offered:
    """A node type as the catalogue shows it: prices side by side and where they break even."""

    node_type: NodeType
    prices: tuple[UnitPrice, ...]
    listed: pricing.PriceList
    sites: tuple[str, ...]
    is_demo: bool

    @property
    def month_from_days(self) -> int | None:
        """From how many days on a month costs no more."""
        return pricing.break_even(self.listed, "month", "day")

    @property
    def year_from_months(self) -> int | None:
        """From how many months on a year costs no more."""
        return pricing.break_even(self.listed, "year", "month")

    @property
    def year_from_days(self) -> int | None:
        """From how many days on a year costs no more."""
        return pricing.break_even(self.listed, "year", "day")


def node_types() -> QuerySet[NodeType]:
    """Return the node types on offer, in the order of the catalogue."""
    return NodeType.objects.filter(offered=True).select_related("gpu_model").order_by("position", "pk")


def catalogue(found: list[NodeType], *, currency: str, now: datetime) -> list[Offered]:
    """Return node types with prices and sites: three queries, however many there are."""
    lists = prices.price_lists(found, currency, now)
    demo = set(
        Price.objects.filter(
            node_type__in=found, currency=currency, valid__contains=now, is_demo=True
        ).values_list("node_type_id", flat=True)
    )
    sites: dict[str, list[str]] = defaultdict(list)
    stocked = Node.objects.filter(node_type__in=found, site__active=True).exclude(state="retired")
    for kind, slug in stocked.order_by("site__slug").values_list("node_type_id", "site__slug").distinct():
        sites[kind].append(slug)
    return [
        Offered(
            node_type=node_type,
            prices=_side_by_side(lists[node_type.pk], node_type.gpus_per_node),
            listed=lists[node_type.pk],
            sites=tuple(sites[node_type.pk]),
            is_demo=node_type.pk in demo,
        )
        for node_type in found
    ]


def currency_of(organisation: Organisation | None) -> str:
    """Return the currency in which prices are shown."""
    return organisation.currency if organisation else CURRENCIES[0]


def break_even_points(offered: Offered, days: int = 365, steps: int = 73) -> dict[str, list[tuple[int, int]]]:
    """Return, per unit, pairs of days and the cost of a node when only that unit is bought: the chart."""
    length = {"day": 1, "month": 30, "year": 365}
    at = [max(1, round(days * step / steps)) for step in range(1, steps + 1)]
    return {
        unit: [(day, -(-day // length[unit]) * amount) for day in at]
        for unit, amount in offered.listed.amounts.items()
    }


def quotes(organisation: Organisation) -> TenantQuerySet[Quote]:
    """Return the quotes of a customer with what shows beside them."""
    rows: TenantQuerySet[Quote] = Quote.objects.for_org(organisation).select_related(
        "node_type__gpu_model", "site", "order"
    )
    return rows


def orders(organisation: Organisation) -> TenantQuerySet[Order]:
    """Return the orders of a customer with quote, cluster, invoice and payments."""
    rows: TenantQuerySet[Order] = _whole(Order.objects.for_org(organisation))
    return rows


def all_orders() -> TenantQuerySet[Order]:
    """Return the orders of all customers, for staff."""
    rows: TenantQuerySet[Order] = _whole(Order.objects.all()).select_related("organisation")
    return rows


def invoices(organisation: Organisation) -> TenantQuerySet[Invoice]:
    """Return the invoices of a customer with their lines."""
    rows: TenantQuerySet[Invoice] = Invoice.objects.for_org(organisation).prefetch_related("lines")
    return rows


def latest_payment(order: Order) -> Payment | None:
    """Return the latest attempt to pay an order that came from here."""
    attempts = list(order.payments.all())
    return attempts[-1] if attempts else None


def _whole(rows: Any) -> Any:
    beside = ("quote__node_type__gpu_model", "quote__site", "cluster", "invoice")
    return rows.select_related(*beside).prefetch_related(Prefetch("payments", Payment.objects.order_by("pk")))


def _side_by_side(listed: pricing.PriceList, gpus: int) -> tuple[UnitPrice, ...]:
    return tuple(
        UnitPrice(
            unit,
            Money(listed.amounts[unit], listed.currency),
            Money(pricing.per_gpu_hour(listed.amounts[unit], unit, gpus), listed.currency),
        )
        for unit in ("day", "month", "year")
        if unit in listed.amounts
    )
