"""The contract of a payment gateway, kept by the test gateway and by Stripe (localstripe, the real SDK)."""

from dataclasses import replace

import pytest

from billing.gateways import port
from billing.gateways.stripe import StripeGateway
from billing.gateways.test import TestGateway
from core import ids
from tests.support import localstripe


class TestBench:
    """Drives the test gateway: the outcome is an option of the charge."""

    __test__ = False
    gateway = TestGateway()

    def open_charge(self):
        return self._started({"outcome": "requires_action"})

    def paid(self):
        return self._started({})

    def declined(self):
        return self._started({"outcome": "declined"})

    def _started(self, options):
        charge = replace(new_charge(), options=options)
        return replace(charge, provider_id=self.gateway.start(charge).provider_id)


class StripeBench:
    """Drives Stripe: the customer pays in the browser after the start."""

    def __init__(self, server):
        self.gateway, self.server = StripeGateway(), server

    def open_charge(self):
        charge = new_charge()
        return replace(charge, provider_id=self.gateway.start(charge).provider_id)

    def paid(self):
        charge = self.open_charge()
        self.server.pay(charge.provider_id)
        return charge

    def declined(self):
        charge = self.open_charge()
        self.server.pay(charge.provider_id, localstripe.DECLINED_CARD)
        return charge


def new_charge():
    return port.Charge(ids.new("pay"), "ord_1", "org_1", 123456, "CNY")


@pytest.fixture(params=["test", "stripe"])
def bench(request):
    if request.param == "test":
        return TestBench()
    return StripeBench(request.getfixturevalue("stripe_on"))


def test_an_open_charge_waits_for_the_customer(bench):
    charge = bench.open_charge()
    result = bench.gateway.retrieve(charge)
    assert (result.status, result.amount, result.currency) == ("requires_action", 123456, "CNY")
    assert result.provider_id == charge.provider_id


def test_a_paid_charge_has_succeeded(bench):
    charge = bench.paid()
    for _twice in range(2):
        result = bench.gateway.retrieve(charge)
        assert (result.status, result.amount) == ("succeeded", 123456)


def test_a_declined_card_is_a_result(bench):
    result = bench.gateway.retrieve(bench.declined())
    assert (result.status, result.failure_code) == ("failed", "card_declined")


def test_an_open_charge_can_be_cancelled(bench):
    result = bench.gateway.cancel(bench.open_charge())
    assert (result.status, result.failure_code) == ("failed", "cancelled")


def test_a_charge_that_was_never_answered_can_be_cancelled(bench):
    result = bench.gateway.cancel(new_charge())
    assert (result.status, result.failure_code) == ("failed", "cancelled")


def test_it_may_be_too_late_to_cancel(bench):
    assert bench.gateway.cancel(bench.paid()).status == "succeeded"


def test_a_refund_goes_back_once(bench):
    back = port.GiveBack(ids.new("ref"), bench.paid(), 1000)
    first = bench.gateway.refund(back)
    again = bench.gateway.refund(replace(back, repeated=True))
    assert (first.status, first.amount, first.currency) == ("succeeded", 1000, "CNY")
    assert again.provider_id == first.provider_id
    seen = bench.gateway.retrieve_refund(replace(back, provider_id=first.provider_id))
    assert (seen.status, seen.amount) == ("succeeded", 1000)


def test_an_unknown_charge_is_an_error_that_stays(bench):
    with pytest.raises(port.GatewayError) as caught:
        bench.gateway.retrieve(replace(new_charge(), provider_id="pi_nothing"))
    assert not caught.value.retryable


def test_the_charge_of_another_payment_is_refused(bench):
    other = replace(new_charge(), provider_id=bench.open_charge().provider_id)
    with pytest.raises(port.GatewayError) as caught:
        bench.gateway.retrieve(other)
    assert not caught.value.retryable


def test_stripe_away_is_worth_a_repeat(stripe_on, settings):
    settings.STRIPE_API_BASE = "http://127.0.0.1:9"
    with pytest.raises(port.GatewayError) as caught:
        StripeGateway().start(new_charge())
    assert caught.value.retryable


def test_the_client_secret_comes_with_the_start(stripe_on):
    assert StripeGateway().start(new_charge()).client_secret.startswith("pi_")
