"""Things for sale and sold, for tests: a priced node type, quotes, orders in any state."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from accounts.models import Member
from billing.models import Order, Quote, TaxRate, VolumeTier
from billing.services import due, orders, prices, quotes
from clusters.models import NodeType, Site
from core import ids
from tests.support import fleet, people

NOW = fleet.NOW
AMOUNTS = {"day": 442368, "month": 11280384, "year": 96878592}  # fen per node: the demo's H100 × 8


@dataclass(frozen=True)
class Shop:
    """A site with free nodes of one priced type, and a customer's owner."""

    site: Site
    node_type: NodeType
    owner: Member

    @property
    def organisation(self) -> Any:
        return self.owner.organisation


def price(node_type: NodeType, *, currency: str = "CNY", **amounts: int) -> None:
    """Set the prices of a node type, valid since long ago."""
    for unit, amount in (amounts or AMOUNTS).items():
        prices.set_price(
            node_type=node_type,
            unit=unit,
            currency=currency,
            amount=amount,
            from_=NOW - timedelta(days=400),
        )


def open_shop(number: int = 4, *, tiers: bool = False, tax: bool = False, **type_fields: Any) -> Shop:
    """Make a site with so many nodes of a priced type, and a customer."""
    site, node_type = fleet.pool(number, **type_fields)
    price(node_type)
    price(node_type, currency="USD", day=61440, month=1566720, year=13455360)
    if tiers:
        for min_gpus, percent in ((16, 3), (64, 6)):
            VolumeTier.objects.create(min_gpus=min_gpus, percent=percent)
    if tax:
        TaxRate.objects.create(country="CN", title="VAT", percent=6)
    return Shop(site, node_type, people.member())


def quote(shop: Shop, *, by: Member | None = None, now: datetime = NOW, **wanted: Any) -> Quote:
    """Make a quote through the service: one node for one day, starting now, unless told otherwise."""
    who = by or shop.owner
    return quotes.create(
        **{
            "organisation": who.organisation,
            "node_type": shop.node_type.slug,
            "site": shop.site.slug,
            "nodes": 1,
            "term": {"unit": "day", "count": 1},
            "user": who.user,
            "actor": people.actor(who),
            "now": now,
            **wanted,
        }
    )


def place(
    shop: Shop,
    *,
    by: Member | None = None,
    of: Quote | None = None,
    outcome: str = "succeeded",
    now: datetime = NOW,
    key: str | None = None,
    **wanted: Any,
) -> Order:
    """Place an order by the test method; ``wanted`` goes to the quote that is made when none is given."""
    who = by or shop.owner
    offer = of or quote(shop, by=who, now=now, **wanted)
    return orders.place(
        organisation=who.organisation,
        quote_id=offer.pk,
        method="test",
        options={"outcome": outcome},
        user=who.user,
        actor=people.actor(who),
        idempotency_key=key or ids.new("key"),
        now=now,
    )


def paid_order(shop: Shop | None = None, *, now: datetime = NOW, **wanted: Any) -> Order:
    """Return a fulfilled order with its cluster and invoice."""
    order = place(shop or open_shop(), now=now, **wanted)
    assert order.status == "fulfilled", order.status
    return order


def waiting_order(shop: Shop | None = None, *, now: datetime = NOW, **wanted: Any) -> Order:
    """Return an order whose payment waits for the customer, with its nodes held."""
    return place(shop or open_shop(), outcome="requires_action", now=now, **wanted)


def run_due(now: datetime) -> None:
    """Do what the beat does, until nothing is due."""
    for _round in range(20):
        if not due.run(now=now):
            return
    raise AssertionError("rows stay due")
