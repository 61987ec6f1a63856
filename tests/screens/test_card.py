"""Paying by card in a real browser: our page, Stripe's element and script (localstripe's), the outcome."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.utils import timezone

from billing.models import Order
from billing.services import orders
from tests.support import localstripe, people, shop

pytestmark = [pytest.mark.screens, pytest.mark.django_db(transaction=True)]
ASKS_THE_BANK = "4000002500003155"  # localstripe's script only knows cards that ask the bank


@pytest.fixture
def card_till(settings: Any) -> Iterator[localstripe.LocalStripe]:
    server = localstripe.start()
    settings.STRIPE_SECRET_KEY = localstripe.KEY
    settings.STRIPE_PUBLISHABLE_KEY = "pk_test_of_localstripe"
    settings.STRIPE_API_BASE = server.base
    settings.STRIPE_SCRIPT_URL = f"{server.base}/js.stripe.com/v3/"
    yield server
    server.stop()


def order_by_card(place: shop.Shop, server: localstripe.LocalStripe) -> Order:
    now = timezone.now()
    order = orders.place(
        organisation=place.organisation,
        quote_id=shop.quote(place, now=now).pk,
        method="stripe",
        user=place.owner.user,
        actor=people.actor(place.owner),
        now=now,
    )
    server.pay(order.payments.get().provider_id, ASKS_THE_BANK)
    return order


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_a_card_is_paid_in_the_browser(
    walker: Any, card_till: localstripe.LocalStripe, language: str
) -> None:
    place = shop.open_shop()
    order = order_by_card(place, card_till)
    page = walker.open(place.owner.user, language=language)
    page.goto(f"{walker.address}/orders/{order.pk}/pay")
    number = page.locator("#card input").first
    number.wait_for()
    number.fill(ASKS_THE_BANK)
    walker.shot(page, f"pay-{language}")
    page.locator("#pay button").click()
    page.get_by_role("button", name="Complete authentication").click()
    page.wait_for_url(re.compile(rf"/orders/{order.pk}$"))
    order.refresh_from_db()
    assert order.status == "fulfilled"
    assert walker.faults == []


def test_what_the_bank_refuses_is_said_and_can_be_tried_again(
    walker: Any, card_till: localstripe.LocalStripe
) -> None:
    place = shop.open_shop()
    order = order_by_card(place, card_till)
    page = walker.open(place.owner.user)
    page.goto(f"{walker.address}/orders/{order.pk}/pay")
    page.locator("#card input").first.fill(ASKS_THE_BANK)
    page.locator("#pay button").click()
    page.get_by_role("button", name="Fail authentication").click()
    page.wait_for_url(re.compile(rf"/orders/{order.pk}$"))
    assert "Your bank could not confirm" in page.inner_text("main")
    assert order.payments.get().status == "failed"
    assert walker.faults == []
