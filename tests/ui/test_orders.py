"""Checkout and what becomes of an order; invoices as documents."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.conf import settings
from django.test import Client
from django.utils import timezone

from accounts.models import Member
from billing.models import Invoice, Order
from billing.services import orders
from tests.support import market, people

pytestmark = pytest.mark.django_db


@pytest.fixture
def member() -> Member:
    market.stocked()
    return people.member()


@pytest.fixture
def browser(member: Member) -> Client:
    return people.browser(member)


def held(browser: Client) -> Order:
    browser.post("/rent", {"size": "8", "unit": "day", "count": "2", "key": "k", "type": ""})
    return Order.objects.get()


def test_the_checkout_shows_what_is_held_and_for_how_long(browser: Client) -> None:
    order = held(browser)
    page = browser.get(f"/orders/{order.pk}").content.decode()
    assert "8 held for you" in page
    assert "14 min 5" in page
    assert page.count(f"¥{order.total / 100:,.2f}") >= 3  # total, sum of the lines, button


def test_a_declined_payment_can_be_tried_again(browser: Client) -> None:
    order = held(browser)
    url = f"/orders/{order.pk}"
    browser.post(f"{url}/payments", {"method": "test", "outcome": "declined", "key": "1"})
    page = browser.get(url).content.decode()
    assert "Your hold stays" in page
    assert "Try again" in page
    browser.post(f"{url}/payments", {"method": "test", "outcome": "succeeded", "key": "2"})
    order.refresh_from_db()
    assert order.status == "fulfilled"
    assert "Go to the cluster" in browser.get(url).content.decode()


def test_paying_twice_with_one_key_pays_once(browser: Client) -> None:
    order = held(browser)
    for _ in range(2):
        browser.post(f"/orders/{order.pk}/payments", {"method": "test", "outcome": "succeeded", "key": "1"})
    assert order.payments.count() == 1
    assert Invoice.objects.count() == 1


def test_the_timer_reloads_the_page_only_when_something_happened(browser: Client) -> None:
    order = held(browser)
    url = f"/orders/{order.pk}/live"
    assert 'id="timer"' in browser.get(url, {"seen": "pending:"}).content.decode()
    browser.post(f"/orders/{order.pk}/payments", {"method": "test", "outcome": "declined", "key": "1"})
    assert browser.get(url, {"seen": "pending:"})["HX-Refresh"] == "true"


def test_a_hold_that_ran_out_says_so_and_offers_a_new_quote(browser: Client) -> None:
    order = held(browser)
    later = timezone.now() + settings.HOLD_TIME + timedelta(seconds=1)
    with time_machine.travel(later):
        assert "The time is up" in browser.get(f"/orders/{order.pk}").content.decode()
        orders.expire(order_id=order.pk, now=later)
        page = browser.get(f"/orders/{order.pk}").content.decode()
        assert "Make a new quote" in page
        answer = browser.post(f"/orders/{order.pk}/payments", {"method": "test", "key": "1"}, follow=True)
        assert "nodes were given back" in answer.content.decode()


def test_giving_back_says_what_happens_and_does_it(browser: Client) -> None:
    order = held(browser)
    assert "Nothing is charged" in browser.get(f"/orders/{order.pk}").content.decode()
    browser.post(f"/orders/{order.pk}/cancel")
    order.refresh_from_db()
    assert order.status == "cancelled"
    assert browser.post(f"/orders/{order.pk}/cancel").status_code == 302


def test_the_invoice_has_the_lines_of_the_quote(browser: Client) -> None:
    order = held(browser)
    browser.post(f"/orders/{order.pk}/payments", {"method": "test", "key": "1"})
    invoice = Invoice.objects.get()
    assert invoice.number in browser.get("/invoices").content.decode()
    assert invoice.number in browser.get("/orders").content.decode()
    page = browser.get(f"/invoices/{invoice.pk}").content.decode()
    for line in order.quote.lines:
        assert f"¥{abs(line['amount']) / 100:,.2f}" in page
    assert "no money moved" in page


def test_empty_lists_say_what_belongs_there() -> None:
    browser = people.browser(people.member())
    assert "No orders yet" in browser.get("/orders").content.decode()
    assert "No invoices yet" in browser.get("/invoices").content.decode()


@pytest.mark.parametrize("path", ["", "/live", "/payments", "/cancel"])
def test_a_stranger_sees_nothing(browser: Client, path: str) -> None:
    order = held(browser)
    stranger = people.browser(people.member())
    call: Any = stranger.get if path in ("", "/live") else stranger.post
    assert call(f"/orders/{order.pk}{path}", {"method": "test"}).status_code == 404


def test_a_viewer_pays_nothing(browser: Client, member: Member) -> None:
    order = held(browser)
    viewer = people.browser(people.member(member.organisation, role="viewer"))
    assert "may look but not pay" in viewer.get(f"/orders/{order.pk}").content.decode()
    assert viewer.post(f"/orders/{order.pk}/payments", {"method": "test"}).status_code == 403
