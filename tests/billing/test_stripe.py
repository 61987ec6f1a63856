"""Paying through Stripe: the door, the stored events, and the same ledger in whatever order they come."""

import itertools
from datetime import timedelta

import pytest
from django.conf import settings as django_settings
from django.db.models import Sum
from django.utils import timezone

from billing.models import Invoice, LedgerEntry, LedgerPosting, Payment, PaymentEvent, Refund
from billing.services import due, orders, payments, refunds, stripe_events
from core import errors
from tests.support import localstripe, people, shop

pytestmark = pytest.mark.django_db


@pytest.fixture
def place():
    return shop.open_shop(2)


def waiting(place, *, by=None, now=None):
    """An order by card whose intent waits at Stripe."""
    who, now = by or place.owner, now or timezone.now()
    return orders.place(
        organisation=who.organisation,
        quote_id=shop.quote(place, by=who, now=now).pk,
        method="stripe",
        user=who.user,
        actor=people.actor(who),
        now=now,
    )


def intent_of(order):
    return order.payments.order_by("pk").last().provider_id


def about(server, kind, intent):
    return localstripe.event(f"payment_intent.{kind}", server.client.payment_intents.retrieve(intent))


def ledger():
    rows = LedgerPosting.objects.values("entry__kind", "account").annotate(sum=Sum("amount"))
    return sorted((row["entry__kind"], row["account"], row["sum"]) for row in rows)


def test_an_order_by_card_waits_with_a_secret(stripe_on, place):
    order = waiting(place)
    payment = order.payments.get()
    assert (order.status, payment.status) == ("pending", "requires_action")
    assert payments.client_secret(payment).startswith(f"{payment.provider_id}_secret")
    assert payment.provider_id not in payment.client_secret  # sealed at rest


def test_the_api_gives_the_secret_to_who_may_pay(stripe_on, place):
    order = waiting(place)
    path = f"/api/v1/orders/{order.pk}"
    assert people.api(place.owner).get(path).json()["payment"]["client_secret"].startswith("pi_")
    viewer = people.member(place.organisation, role="viewer")
    assert "client_secret" not in people.api(viewer).get(path).json()["payment"]


def test_an_event_is_stored_then_processed(stripe_on, place, client):
    order = waiting(place)
    stripe_on.pay(intent_of(order))
    answer = localstripe.deliver(client, about(stripe_on, "succeeded", intent_of(order)))
    assert answer.status_code == 204
    stored = PaymentEvent.objects.get()
    assert (stored.status, stored.object_id) == ("received", intent_of(order))
    assert "secret" not in str(stored.payload)
    order.refresh_from_db()
    assert order.status == "pending"
    shop.run_due(timezone.now())
    order.refresh_from_db()
    stored.refresh_from_db()
    assert (order.status, stored.status) == ("fulfilled", "processed")


def test_the_door_stays_shut(stripe_on, place, client, settings):
    body = about(stripe_on, "succeeded", intent_of(waiting(place)))
    assert localstripe.deliver(client, body, secret="whsec_wrong").status_code == 400
    assert localstripe.deliver(client, body, age=600).status_code == 400
    assert client.post("/stripe/webhook", body, content_type="application/json").status_code == 400
    assert localstripe.deliver(client, {**body, "livemode": True}).status_code == 400
    assert localstripe.deliver(client, {**body, "account": "acct_other"}).status_code == 400
    for junk in (b"", b"[]", b"{}", b'{"id": 1}', b"\xff", b"null"):
        assert localstripe.deliver(client, junk).status_code == 400
    assert localstripe.deliver(client, b" " * 300_000).status_code == 413
    assert client.get("/stripe/webhook").status_code == 405
    settings.STRIPE_WEBHOOK_SECRET = ""
    assert localstripe.deliver(client, body).status_code == 404
    assert not PaymentEvent.objects.exists()


def test_unknown_types_are_stored_as_ignored(stripe_on, client):
    body = localstripe.event("customer.created", {"object": "customer", "id": "cus_1"})
    assert localstripe.deliver(client, body).status_code == 204
    row = PaymentEvent.objects.get()
    assert (row.status, row.due_at) == ("ignored", None)


def test_an_event_about_nothing_of_ours_is_ignored(stripe_on, client):
    intent = stripe_on.client.payment_intents.create(params={"amount": 5, "currency": "cny"})
    localstripe.deliver(client, localstripe.event("payment_intent.succeeded", intent))
    shop.run_due(timezone.now())
    assert PaymentEvent.objects.get().status == "ignored"


def test_every_event_thrice_in_every_order_gives_the_same_ledger(stripe_on, client):
    """A declined card, another attempt that is paid: each event three times, in each of their orders."""
    seen = set()
    kinds = ("failed", "first_again", "paid")
    for order_of_events in itertools.permutations(kinds):
        place = shop.open_shop(1)
        order = waiting(place)
        first = intent_of(order)
        stripe_on.pay(first, localstripe.DECLINED_CARD)
        payments.refresh(payment_id=order.payments.get().pk, now=timezone.now())
        orders.pay_again(
            organisation=place.organisation,
            order_id=order.pk,
            method="stripe",
            actor=people.actor(place.owner),
            now=timezone.now(),
        )
        second = intent_of(order)
        assert second != first
        stripe_on.pay(second)
        bodies = {
            "failed": about(stripe_on, "payment_failed", first),
            "first_again": about(stripe_on, "payment_failed", first),
            "paid": about(stripe_on, "succeeded", second),
        }
        before = LedgerPosting.objects.count()
        entries = set(LedgerEntry.objects.values_list("pk", flat=True))
        for name in order_of_events * 3:
            localstripe.deliver(client, bodies[name])
            due.run(now=timezone.now())
        shop.run_due(timezone.now())
        order.refresh_from_db()
        made = LedgerEntry.objects.exclude(pk__in=entries)
        sides = LedgerPosting.objects.filter(entry__in=made)
        seen.add(tuple(sorted(sides.values_list("entry__kind", "account", "amount"))))
        assert sides.count() == LedgerPosting.objects.count() - before
        assert order.status == "fulfilled"
        assert Invoice.objects.filter(order=order).count() == 1
    assert len(seen) == 1


def test_control_without_the_guard_money_settles_twice(stripe_on, place, monkeypatch):
    """What the shuffled test would see if a settled payment were settled again and posts were not unique."""
    order = waiting(place)
    stripe_on.pay(intent_of(order))
    payment = order.payments.get()
    payments.refresh(payment_id=payment.pk, now=timezone.now())
    once = ledger()
    monkeypatch.setattr(payments, "TAKEN", ())
    payments.refresh(payment_id=payment.pk, now=timezone.now())
    assert Refund.objects.filter(reason="paid_twice").count() == 1
    assert ledger() != once


def test_an_event_before_the_answer_finds_its_payment(stripe_on, place, client):
    """The start's answer was lost: the provider's id is only in the event, ours in its metadata."""
    order = waiting(place)
    stripe_on.pay(intent_of(order))
    body = about(stripe_on, "succeeded", intent_of(order))
    Payment.objects.update(provider_id=None, status="pending")
    localstripe.deliver(client, body)
    stripe_events.process(event_id=PaymentEvent.objects.get().pk, now=timezone.now())
    order.refresh_from_db()
    assert order.status == "fulfilled"
    assert order.payments.get().provider_id == body["data"]["object"]["id"]


def test_a_lost_webhook_is_found_by_polling(stripe_on, place):
    order = waiting(place)
    stripe_on.pay(intent_of(order))
    shop.run_due(timezone.now() + timedelta(minutes=2))
    order.refresh_from_db()
    assert order.status == "fulfilled"


def test_stripe_away_keeps_the_order_and_goes_on_later(stripe_on, place, settings):
    base, settings.STRIPE_API_BASE = settings.STRIPE_API_BASE, "http://127.0.0.1:9"
    order = waiting(place)
    payment = order.payments.get()
    assert (order.status, payment.status, payment.claim_token) == ("pending", "pending", "")
    settings.STRIPE_API_BASE = base
    shop.run_due(timezone.now() + timedelta(minutes=1))
    payment.refresh_from_db()
    assert payment.status == "requires_action"


def test_a_hold_that_ends_cancels_the_intent(stripe_on, place):
    order = waiting(place)
    shop.run_due(timezone.now() + django_settings.HOLD_TIME)
    order.refresh_from_db()
    assert order.status == "expired"
    assert order.payments.get().status == "failed"
    assert stripe_on.client.payment_intents.retrieve(intent_of(order)).status == "canceled"


def test_paid_in_the_moment_the_hold_ends_is_refunded_at_stripe(stripe_on):
    place = shop.open_shop(1)
    order = waiting(place)
    ends = order.hold_expires_at
    stripe_on.pay(intent_of(order))
    orders.expire(order_id=order.pk, now=ends)
    shop.place(place, by=people.member(), now=ends)
    shop.run_due(ends + timedelta(seconds=1))
    order.refresh_from_db()
    refund = Refund.objects.get()
    assert (order.status, refund.status) == ("refunded", "succeeded")
    assert stripe_on.client.refunds.retrieve(refund.provider_id).amount == order.total


def test_a_refund_event_settles_a_refund(stripe_on, place, client):
    order = waiting(place)
    stripe_on.pay(intent_of(order))
    payment = order.payments.get()
    payments.refresh(payment_id=payment.pk, now=timezone.now())
    payment.refresh_from_db()
    refund = refunds.reserve(payment=payment, amount=100, reason="goodwill", now=timezone.now())
    at_stripe = stripe_on.client.refunds.create(
        params={"payment_intent": payment.provider_id, "amount": 100, "metadata": {"refund": refund.pk}}
    )
    for _thrice in range(3):
        localstripe.deliver(client, localstripe.event("refund.updated", at_stripe, event_id="evt_refund"))
    shop.run_due(timezone.now())
    refund.refresh_from_db()
    assert (refund.status, refund.provider_id) == ("succeeded", at_stripe.id)
    assert PaymentEvent.objects.count() == 1


def test_our_rows_refuse_more_than_is_left(stripe_on, place):
    """localstripe would accept it: the conditional update is what refuses."""
    order = waiting(place)
    stripe_on.pay(intent_of(order))
    payment = order.payments.get()
    payments.refresh(payment_id=payment.pk, now=timezone.now())
    payment.refresh_from_db()
    refunds.reserve(payment=payment, amount=payment.amount - 1, reason="a", now=timezone.now())
    with pytest.raises(errors.Conflict) as caught:
        refunds.reserve(payment=payment, amount=2, reason="b", now=timezone.now())
    assert caught.value.code == "refund_exceeds_payment"
    over = stripe_on.client.refunds.create(
        params={"payment_intent": payment.provider_id, "amount": payment.amount + 1}
    )
    assert over.status == "succeeded"


def test_money_of_another_amount_is_not_settled(stripe_on, place):
    order = waiting(place)
    Payment.objects.update(amount=1)
    stripe_on.pay(intent_of(order))
    payments.refresh(payment_id=order.payments.get().pk, now=timezone.now())
    order.refresh_from_db()
    assert order.status == "pending"
    assert order.payments.get().failure_code == "amount_mismatch"
