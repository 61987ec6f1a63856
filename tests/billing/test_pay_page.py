"""The card page: Stripe's script and element there and nowhere else, and a way back for every state."""

import re

import pytest
from django.utils import timezone

from billing.services import orders
from tests.support import localstripe, people, shop

pytestmark = pytest.mark.django_db


@pytest.fixture
def place():
    return shop.open_shop()


def by_card(place):
    now = timezone.now()
    return orders.place(
        organisation=place.organisation,
        quote_id=shop.quote(place, now=now).pk,
        method="stripe",
        user=place.owner.user,
        actor=people.actor(place.owner),
        now=now,
    )


def policy(answer, directive):
    found = re.search(rf"{directive} ([^;]+)", answer["Content-Security-Policy"])
    return found.group(1).split() if found else []


def test_the_page_loads_stripe_and_may(stripe_on, place):
    order = by_card(place)
    answer = people.browser(place.owner).get(f"/orders/{order.pk}/pay")
    page = answer.content.decode()
    assert answer.status_code == 200
    assert f'src="{stripe_on.base}/js.stripe.com/v3/"' in page
    assert f"{order.payments.get().provider_id}_secret" in page
    assert "pk_test_of_localstripe" in page
    assert "sk_test" not in page
    assert stripe_on.base in policy(answer, "script-src")
    assert stripe_on.base in policy(answer, "connect-src")
    assert "'unsafe-inline'" not in policy(answer, "script-src")


def test_no_other_page_may(stripe_on, place):
    order = by_card(place)
    answer = people.browser(place.owner).get(f"/orders/{order.pk}")
    assert answer.status_code == 200
    assert stripe_on.base not in answer["Content-Security-Policy"]
    assert "js.stripe.com" not in answer.content.decode()


def test_after_the_element_the_order_is_checked_at_stripe(stripe_on, place):
    order = by_card(place)
    stripe_on.pay(order.payments.get().provider_id)
    answer = people.browser(place.owner).post(f"/orders/{order.pk}/pay/check")
    assert answer.url == f"/orders/{order.pk}"
    order.refresh_from_db()
    assert order.status == "fulfilled"


def test_checking_a_declined_card_keeps_the_form_usable(stripe_on, place):
    order = by_card(place)
    browser = people.browser(place.owner)
    stripe_on.pay(order.payments.get().provider_id, localstripe.DECLINED_CARD)
    browser.post(f"/orders/{order.pk}/pay/check")
    assert order.payments.get().status == "failed"
    assert browser.get(f"/orders/{order.pk}/pay").status_code == 200


@pytest.mark.parametrize("outcome", ["succeeded", "declined"])
def test_where_no_card_is_asked_for_it_leads_to_the_order(place, outcome):
    order = shop.place(place, outcome=outcome, now=timezone.now())
    answer = people.browser(place.owner).get(f"/orders/{order.pk}/pay")
    assert (answer.status_code, answer.url) == (302, f"/orders/{order.pk}")


def test_rights_and_strangers(stripe_on, place):
    order = by_card(place)
    viewer = people.browser(people.member(place.organisation, role="viewer"))
    stranger = people.browser(people.member())
    for path, call in (("pay", "get"), ("pay/check", "post")):
        assert getattr(viewer, call)(f"/orders/{order.pk}/{path}").status_code == 403
        assert getattr(stranger, call)(f"/orders/{order.pk}/{path}").status_code == 404
