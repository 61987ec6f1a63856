"""Providers that refuse or are away: every row comes to an end, and nobody's money is forgotten."""

from datetime import timedelta

import pytest

from billing.gateways import port
from billing.gateways.port import GatewayError
from billing.gateways.stripe import StripeGateway
from billing.gateways.test import TestGateway
from billing.models import LedgerPosting
from billing.services import refunds
from tests.support import shop

pytestmark = pytest.mark.django_db
NOW = shop.NOW


def refuse(monkeypatch, name, *, retryable):
    def call(self, _subject):
        raise GatewayError("not today", code="refused", retryable=retryable)

    monkeypatch.setattr(TestGateway, name, call)


def test_a_refused_start_is_a_failed_payment(monkeypatch):
    refuse(monkeypatch, "start", retryable=False)
    order = shop.place(shop.open_shop())
    payment = order.payments.get()
    assert (order.status, payment.status, payment.failure_code) == ("pending", "failed", "refused")
    assert payment.due_at is None


def test_a_gateway_that_is_away_is_asked_again_until_the_hold_ends(monkeypatch):
    refuse(monkeypatch, "start", retryable=True)
    order = shop.place(shop.open_shop())
    assert order.payments.get().status == "pending"
    shop.run_due(NOW + timedelta(minutes=1))
    assert order.payments.get().attempts == 2
    shop.run_due(NOW + timedelta(minutes=20))
    order.refresh_from_db()
    assert order.status == "expired"
    assert order.payments.get().status == "failed"


def test_a_cancel_that_is_refused_ends_too(monkeypatch):
    order = shop.waiting_order()
    refuse(monkeypatch, "cancel", retryable=False)
    refuse(monkeypatch, "retrieve", retryable=False)
    shop.run_due(NOW + timedelta(minutes=16))
    order.refresh_from_db()
    payment = order.payments.get()
    assert (order.status, payment.status, payment.due_at) == ("expired", "failed", None)


@pytest.mark.parametrize("retryable", [True, False])
def test_a_refund_waits_for_the_gateway_or_is_left_for_people(monkeypatch, caplog, retryable):
    payment = shop.paid_order().payments.get()
    cash = LedgerPosting.objects.get(account="cash").amount
    refund = refunds.reserve(payment=payment, amount=100, reason="goodwill", now=NOW)
    with monkeypatch.context() as away:
        refuse(away, "refund", retryable=retryable)
        shop.run_due(NOW)
    refund.refresh_from_db()
    payment.refresh_from_db()
    if retryable:
        assert (refund.status, payment.refunded) == ("pending", 100)
        shop.run_due(NOW + timedelta(hours=1))
        refund.refresh_from_db()
        assert refund.status == "succeeded"
    else:
        assert (refund.status, payment.refunded) == ("failed", 0)
        assert "refund failed at the provider" in caplog.text
        assert sum(LedgerPosting.objects.filter(account="cash").values_list("amount", flat=True)) == cash


def test_a_key_to_mend_is_worth_a_repeat(stripe_on, settings):
    settings.STRIPE_SECRET_KEY = "pk_wrong"
    with pytest.raises(GatewayError) as caught:
        StripeGateway().start(port.Charge("pay_1", "ord_1", "org_1", 100, "CNY"))
    assert caught.value.retryable
