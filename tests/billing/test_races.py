"""Rivals on the same rows: one order per quote, one call per payment, numbers without gaps, no lost cent."""

import threading
from datetime import timedelta

import pytest
from django.db import transaction

from billing.gateways import registry
from billing.gateways.test import TestGateway
from billing.models import Invoice, LedgerEntry, Order, Payment, Refund
from billing.services import invoices, orders, payments, refunds
from clusters.models import Cluster
from core import claims, errors
from tests.support import people, rivals, shop

pytestmark = pytest.mark.django_db(transaction=True)
NOW = shop.NOW
RIVALS = 16


class CountingGateway(TestGateway):
    """Counts the calls that really went out, and lets rivals meet inside one."""

    def __init__(self, meeting=1):
        self.starts, self.refunds = [], []
        self.meeting = threading.Barrier(meeting)

    def start(self, charge):
        self.starts.append(charge.id)
        self._meet()
        return super().start(charge)

    def refund(self, back):
        self.refunds.append(back.id)
        return super().refund(back)

    def _meet(self):
        try:
            self.meeting.wait(3)
        except threading.BrokenBarrierError:
            self.meeting.reset()


@pytest.fixture
def counting(monkeypatch):
    gateway = CountingGateway()
    monkeypatch.setattr(registry, "gateway", lambda method: gateway)
    return gateway


def test_sixteen_clicks_with_one_key_are_one_order(counting):
    place = shop.open_shop(RIVALS)
    quote = shop.quote(place)
    found = rivals.run(RIVALS, lambda n: shop.place(place, of=quote, key="click").pk)
    assert len(set(found)) == 1, found
    assert (Order.objects.count(), Payment.objects.count(), Cluster.objects.count()) == (1, 1, 1)
    assert Invoice.objects.count() == 1
    assert len(counting.starts) == 1


def test_sixteen_rivals_for_one_quote_are_one_order():
    place = shop.open_shop(RIVALS)
    quote = shop.quote(place)
    found = rivals.run(RIVALS, lambda n: shop.place(place, of=quote, key=f"key-{n}"))
    won = [each for each in found if isinstance(each, Order)]
    lost = [each for each in found if isinstance(each, errors.Conflict)]
    assert (len(won), len(lost)) == (1, RIVALS - 1), found
    assert {error.code for error in lost} == {"quote_accepted"}
    assert Cluster.objects.count() == 1


def test_sixteen_buyers_of_the_last_nodes_after_an_expired_hold():
    place = shop.open_shop(2)
    old = [shop.waiting_order(place) for _ in range(2)]
    late = NOW + timedelta(minutes=16)
    buyers = [people.member() for _ in range(RIVALS)]
    quotes = [shop.quote(place, by=buyer, now=late) for buyer in buyers]
    found = rivals.run(RIVALS, lambda n: shop.place(place, by=buyers[n], of=quotes[n], now=late))
    won = [each for each in found if isinstance(each, Order)]
    assert len(won) == 2, found
    assert all(getattr(each, "code", "") == "sold_out" for each in found if each not in won), found
    assert {Order.objects.get(pk=order.pk).status for order in old} == {"expired"}


def test_two_first_orders_fix_one_currency():
    for _round in range(3):
        place = shop.open_shop(2)
        quotes = [shop.quote(place, currency=currency) for currency in ("CNY", "USD")]
        found = rivals.run(2, lambda n, place=place, quotes=quotes: shop.place(place, of=quotes[n]))
        won = [each for each in found if isinstance(each, Order)]
        assert len(won) == 1, found
        place.organisation.refresh_from_db()
        assert place.organisation.currency == won[0].currency


def test_two_workers_make_one_call(counting):
    order = shop.waiting_order(shop.open_shop())
    counting.starts.clear()
    payment = order.payments.get()
    Payment.objects.update(provider_id=None, status="pending", options={})
    rivals.run(2, lambda n: payments.drive(payment_id=payment.pk, now=NOW))
    assert counting.starts == [payment.pk]
    assert Invoice.objects.count() == 1


def test_control_without_the_claim_two_workers_call_twice(monkeypatch):
    gateway = CountingGateway(meeting=2)
    order = shop.waiting_order(shop.open_shop())
    payment = order.payments.get()
    Payment.objects.update(provider_id=None, status="pending", options={})
    monkeypatch.setattr(registry, "gateway", lambda method: gateway)
    monkeypatch.setattr(claims, "take", lambda rows, now, seconds: "no claim")
    rivals.run(2, lambda n: payments.drive(payment_id=payment.pk, now=NOW))
    assert gateway.starts == [payment.pk] * 2
    assert Invoice.objects.count() == 1  # the locks of order and payment are the second line


def test_invoice_numbers_have_no_gaps(monkeypatch, settings):
    settings.OPEN_ORDERS_MOST = RIVALS  # all of one customer, unpaid at once
    place = shop.open_shop(RIVALS)
    quotes = [shop.quote(place) for _ in range(RIVALS)]
    issue = invoices.issue_paid

    def fail_sometimes(*, order, now):
        invoice = issue(order=order, now=now)
        if order.quote_id in {quote.pk for quote in quotes[::4]}:
            raise RuntimeError("after the number was taken")
        return invoice

    monkeypatch.setattr(invoices, "issue_paid", fail_sometimes)
    rivals.run(RIVALS, lambda n: shop.place(place, of=quotes[n]))
    monkeypatch.setattr(invoices, "issue_paid", issue)
    shop.run_due(NOW + timedelta(minutes=2))
    numbers = sorted(Invoice.objects.values_list("sequence", flat=True))
    assert numbers == list(range(1, RIVALS + 1))


def test_rival_refunds_never_exceed_the_payment(counting):
    payment = shop.paid_order().payments.get()
    half = payment.amount // 2

    def reserve(number):
        with transaction.atomic():
            return refunds.reserve(payment=payment, amount=half, reason=f"reason {number}", now=NOW)

    found = rivals.run(RIVALS, reserve)
    assert sum(isinstance(each, Refund) for each in found) == 2, found
    assert {error.code for error in found if isinstance(error, errors.Conflict)} == {"refund_exceeds_payment"}
    payment.refresh_from_db()
    assert payment.refunded == 2 * half
    ids = list(Refund.objects.values_list("pk", flat=True))
    rivals.run(4, lambda n: refunds.drive(refund_id=ids[n % 2], now=NOW))
    assert sorted(counting.refunds) == sorted(ids)


def test_expiry_and_payment_at_the_same_moment_agree():
    late = NOW + timedelta(minutes=16)
    for _round in range(4):
        order = shop.waiting_order(shop.open_shop(1))
        payment = order.payments.get()
        payment.options = {}
        payment.save()
        acts = [
            lambda order=order: orders.expire(order_id=order.pk, now=late),
            lambda payment=payment: payments.drive(payment_id=payment.pk, now=late),
        ]
        found = rivals.run(2, lambda n, acts=acts: acts[n]())
        assert found == [None, None]
        shop.run_due(late)
        order.refresh_from_db()
        assert order.status == "fulfilled"  # in time, or held again: either way once
        assert LedgerEntry.objects.filter(source=payment.pk).count() == 1
        assert Invoice.objects.filter(order=order).count() == 1
