"""Raise between every two steps of renting, then let the beat work: the end is as if nothing had happened."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.services import audit
from billing.gateways import registry
from billing.gateways.stripe import StripeGateway
from billing.gateways.test import TestGateway
from billing.models import Invoice, LedgerPosting, Order, Payment, PaymentEvent, Refund
from billing.services import (
    due,
    holds,
    invoices,
    ledger,
    orders,
    payments,
    refunds,
    settlement,
    stripe_events,
    telling,
)
from clusters.models import Cluster, Reservation
from clusters.services import bookings
from core import claims
from tests.support import localstripe, people, shop

pytestmark = [pytest.mark.django_db, pytest.mark.faults]
NOW = shop.NOW
LATER = timedelta(minutes=3)


class Killed(BaseException):
    """Ends the work at a step, as a kill would: nobody handles it."""


STEPS: list[tuple[Any, str]] = [
    (payments, "check_method"),
    (holds, "clear_expired"),
    (bookings, "hold"),
    (audit, "record"),
    (payments, "create"),
    (payments, "drive"),
    (claims, "take"),
    (TestGateway, "start"),
    (payments, "apply"),
    (ledger, "post"),
    (settlement, "fulfil"),
    (bookings, "confirm"),
    (invoices, "issue_paid"),
    (telling, "tell"),
]
LATE_STEPS = [
    (payments, "apply"),
    (settlement, "settle"),
    (bookings, "rehold"),
    (ledger, "post"),
    (refunds, "reserve"),
    (refunds, "drive"),
    (TestGateway, "refund"),
    (refunds, "apply"),
    (telling, "tell"),
]
STRIPE_STEPS = [
    (stripe_events, "store"),
    (stripe_events, "process"),
    (claims, "take"),
    (StripeGateway, "retrieve"),
    (payments, "apply"),
    (ledger, "post"),
    (bookings, "confirm"),
    (invoices, "issue_paid"),
    (claims, "give_back"),
]
WHEN = ("before", "after")


def break_once(monkeypatch, owner: Any, name: str, when: str) -> None:
    """Make one step end the work, the first time it is reached."""
    original: Callable[..., Any] = getattr(owner, name)
    broken = []

    def step(*args: Any, **kwargs: Any) -> Any:
        if broken:
            return original(*args, **kwargs)
        broken.append(True)
        if when == "after":
            original(*args, **kwargs)
        raise Killed(name)

    monkeypatch.setattr(owner, name, step)
    step.broken = broken  # type: ignore[attr-defined]


def attempt(act: Callable[[], Any]) -> None:
    try:
        act()
    except Killed:
        return


def beat(now) -> None:
    """A beat that may itself be killed once, and comes again."""
    for minute in range(6):
        attempt(lambda at=now + minute * timedelta(minutes=1): due.run(now=at))
    shop.run_due(now + timedelta(minutes=8))


def snapshot() -> dict[str, Any]:
    """Return what stands in the end, without ids and times."""
    return {
        "orders": sorted(Order.objects.values_list("status", "message", "total")),
        "payments": sorted(Payment.objects.values_list("status", "amount", "refunded")),
        "refunds": sorted(Refund.objects.values_list("status", "amount", "reason")),
        "clusters": sorted(Cluster.objects.values_list("status", "nodes")),
        "reservations": Reservation.objects.count(),
        "invoices": sorted(Invoice.objects.values_list("number", "status", "total")),
        "ledger": sorted(LedgerPosting.objects.values_list("entry__kind", "account", "amount")),
        "due": Order.objects.filter(due_at__isnull=False).count(),
        "claims": Payment.objects.filter(due_at__isnull=False).count(),
    }


def rent(place, quote) -> None:
    """The customer clicks, and clicks again when the page broke: the same key."""
    for minute in range(3):
        attempt(lambda at=NOW + minute * LATER: shop.place(place, of=quote, key="click", now=at))
    beat(NOW + 3 * LATER)


@pytest.mark.parametrize("when", WHEN)
@pytest.mark.parametrize(("owner", "name"), STEPS, ids=[name for _owner, name in STEPS])
def test_renting_survives(monkeypatch, owner, name, when):
    place = shop.open_shop(2, tax=True)
    quote = shop.quote(place)
    break_once(monkeypatch, owner, name, when)
    rent(place, quote)
    assert getattr(owner, name).broken, f"{name} was never reached"
    total = quote.total
    assert snapshot() == {
        "orders": [("fulfilled", "", total)],
        "payments": [("succeeded", total, 0)],
        "refunds": [],
        "clusters": [("provisioning", 1)],
        "reservations": 2,  # the lease and its turnaround
        "invoices": [("INV-2026-000001", "paid", total)],
        "ledger": sorted(
            [
                ("invoice", "deferred_revenue", quote.tax - total),
                ("invoice", "receivable", total),
                ("invoice", "tax", -quote.tax),
                ("payment", "cash", total),
                ("payment", "receivable", -total),
            ]
        ),
        "due": 0,
        "claims": 0,
    }


@pytest.mark.parametrize("when", WHEN)
@pytest.mark.parametrize(("owner", "name"), LATE_STEPS, ids=[name for _owner, name in LATE_STEPS])
def test_giving_late_money_back_survives(monkeypatch, owner, name, when):
    place = shop.open_shop(1)
    order = shop.waiting_order(place)
    late = NOW + timedelta(minutes=20)
    orders.expire(order_id=order.pk, now=late)
    shop.paid_order(place, by=people.member(), now=late)
    Payment.objects.filter(order=order).update(options={}, due_at=None)
    before = snapshot()
    Payment.objects.filter(order=order).update(due_at=late)
    break_once(monkeypatch, owner, name, when)
    beat(late)
    assert getattr(owner, name).broken, f"{name} was never reached"
    after = snapshot()
    assert ("refunded", "paid_late", order.total) in after["orders"]
    assert after["refunds"] == [("succeeded", order.total, "paid_late")]
    assert after["invoices"] == before["invoices"]
    assert sum(amount for _kind, account, amount in after["ledger"] if account == "cash") == order.total
    assert after["due"] == after["claims"] == 0
    assert registry.methods()


@pytest.mark.parametrize("when", WHEN)
@pytest.mark.parametrize(("owner", "name"), STRIPE_STEPS, ids=[name for _owner, name in STRIPE_STEPS])
def test_an_event_survives(monkeypatch, stripe_on, client, owner, name, when):
    place = shop.open_shop(2)
    now = timezone.now()
    order = orders.place(
        organisation=place.organisation,
        quote_id=shop.quote(place, now=now).pk,
        method="stripe",
        user=None,
        actor=people.actor(place.owner),
        now=now,
    )
    intent = order.payments.get().provider_id
    stripe_on.pay(intent)
    body = localstripe.event(
        "payment_intent.succeeded", stripe_on.client.payment_intents.retrieve(intent), event_id="evt_once"
    )
    break_once(monkeypatch, owner, name, when)
    for _sent_again in range(2):
        attempt(lambda: localstripe.deliver(client, body))
    beat(now)
    assert getattr(owner, name).broken, f"{name} was never reached"
    after = snapshot()
    assert after["orders"] == [("fulfilled", "", order.total)]
    assert len(after["invoices"]) == 1
    assert len(after["ledger"]) == 4
    assert PaymentEvent.objects.get().status == "processed"
