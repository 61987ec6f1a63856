"""The rent page: choices, the quote that follows them, the button that holds."""

import re

import pytest
from django.test import Client

from billing.models import Order, Quote
from clusters.models import Cluster
from tests.support import market, people

pytestmark = pytest.mark.django_db


def test_the_catalogue_is_public(client: Client) -> None:
    market.stocked()
    page = client.get("/catalogue", {"currency": "USD"})
    assert page.status_code == 200
    assert "$" in page.content.decode()


def test_nobody_is_asked_to_sign_in(client: Client) -> None:
    assert client.get("/rent").status_code == 302


def test_an_empty_fleet_is_said_in_words() -> None:
    page = people.browser(people.member()).get("/rent")
    assert "Nothing to rent yet" in page.content.decode()


def test_the_quote_equals_the_later_order() -> None:
    market.stocked()
    browser = people.browser(people.member())
    page = browser.get("/rent", {"unit": "month", "count": "2", "size": "16"}).content.decode()
    total = re.search(r'figure-large">([^<]+)<', page)
    assert total is not None
    assert "available now" in page
    answer = browser.post("/rent", _form(page))
    order = Order.objects.get()
    assert answer["Location"] == f"/orders/{order.pk}"
    assert order.quote.nodes == 2
    assert f"¥{order.total / 100:,.2f}" == total[1]


def test_pressing_the_button_twice_holds_once() -> None:
    market.stocked()
    browser = people.browser(people.member())
    form = _form(browser.get("/rent", {"size": "8"}).content.decode())
    assert browser.post("/rent", form)["Location"] == browser.post("/rent", form)["Location"]
    assert Cluster.objects.count() == Quote.objects.count() == 1


def test_a_change_answers_with_the_quote_alone() -> None:
    market.stocked()
    browser = people.browser(people.member())
    part = browser.get(
        "/rent/quote", {"count": "25", "unit": "day", "size": "8"}, headers={"HX-Request": "true"}
    )
    assert part.content.decode().lstrip().startswith('<div id="quote"')
    assert "count=25" in part["HX-Replace-Url"]
    longer = browser.get("/rent/quote", {"count": "29", "unit": "day", "size": "8"}).content.decode()
    assert "1 month" in longer
    assert "less" in longer


def test_sold_out_names_the_next_start() -> None:
    market.stocked(1)
    first, second = people.browser(people.member()), people.browser(people.member())
    form = _form(first.get("/rent", {"size": "8"}).content.decode())
    late = _form(second.get("/rent", {"size": "8"}).content.decode())
    assert first.post("/rent", form).status_code == 302
    answer = second.post("/rent", late)
    assert answer.status_code == 409
    assert "Nothing was held and nothing charged" in answer.content.decode()
    assert "instead" in answer.content.decode()


def test_faults_are_sentences() -> None:
    market.stocked()
    page = people.browser(people.member()).get("/rent", {"size": "free", "nodes": "9999"})
    assert "Choose from 1 to 1024 nodes." in page.content.decode()


@pytest.mark.parametrize(
    "query", [{"nodes": "x"}, {"count": "-1"}, {"starts_at": "never", "start": "later"}, {"then": "::,"}]
)
def test_a_broken_link_never_breaks_the_page(query: dict[str, str]) -> None:
    market.stocked()
    assert people.browser(people.member()).get("/rent", query).status_code == 200


def test_a_viewer_may_look_but_not_order() -> None:
    market.stocked()
    browser = people.browser(people.member(role="viewer"))
    page = browser.get("/rent").content.decode()
    assert "may look but not order" in page
    assert browser.post("/rent", {"type": "x"}).status_code == 403


def test_the_form_needs_its_token() -> None:
    market.stocked()
    browser = people.browser(people.member(), enforce_csrf_checks=True)
    answer = browser.post("/rent", {})
    assert answer.status_code == 403
    assert "This form has expired" in answer.content.decode()


def _form(page: str) -> dict[str, str]:
    """Return what the browser would send: checked radios, values of fields."""
    found = {}
    for tag in re.findall(r"<input [^>]+>", page):
        name, value = re.search(r'name="([^"]+)"', tag), re.search(r'value="([^"]*)"', tag)
        if name is None or ('type="radio"' in tag and " checked" not in tag):
            continue
        found[name[1]] = value[1] if value else ""
    found.pop("q", None)
    return found
