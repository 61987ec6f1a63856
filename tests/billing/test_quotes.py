"""Quotes: what is stored, what is refused in words, what a repeat brings."""

from datetime import timedelta

import pytest
from django.utils import translation

from billing import wording
from billing.models import Quote
from billing.services import quotes
from core import errors
from tests.support import shop

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


def faults(**wanted):
    with pytest.raises(errors.Invalid) as caught:
        shop.quote(shop.open_shop(), **wanted)
    return {(fault.field, fault.code) for fault in caught.value.errors}


def test_a_quote_is_priced_and_kept():
    place = shop.open_shop(tiers=True, tax=True)
    quote = shop.quote(place, nodes=2, term={"unit": "day", "count": 3})
    quote.refresh_from_db()
    goods = 2 * 3 * shop.AMOUNTS["day"]
    assert quote.subtotal == goods
    assert quote.discount == round(goods * 0.03)
    assert quote.total == quote.subtotal - quote.discount + quote.tax
    assert [line["kind"] for line in quote.lines] == ["goods", "discount", "tax"]
    assert quote.lines[0]["quantity"] == 6
    assert quote.starts_now
    assert quote.ends_at == shop.NOW + 3 * DAY
    assert quote.expires_at == shop.NOW + timedelta(hours=1)
    assert quote.prices == shop.AMOUNTS


def test_the_cheaper_term_can_be_quoted_for_the_total_that_was_named():
    place = shop.open_shop(tiers=True, tax=True)
    asked = shop.quote(place, nodes=2, term={"unit": "day", "count": 45})
    named = shop.quote(place, nodes=2, term=asked.cheaper["term"])
    assert named.total == asked.cheaper["total"] < asked.total
    assert named.ends_at >= asked.ends_at
    assert named.cheaper is None


@pytest.mark.parametrize(
    ("wanted", "fault"),
    [
        ({"node_type": "nothing"}, ("node_type", "unknown")),
        ({"site": "nowhere"}, ("site", "unknown")),
        ({"nodes": 0}, ("nodes", "min")),
        ({"nodes": 100_000}, ("nodes", "max")),
        ({"term": {"unit": "week", "count": 1}}, ("term.unit", "unknown")),
        ({"term": {"unit": "day", "count": 0}}, ("term.count", "min")),
        ({"term": {"unit": "year", "count": 6}}, ("term.count", "max")),
        (
            {"term": {"unit": "day", "count": 1, "then": [{"unit": "day", "count": 1}]}},
            ("term.then.0.unit", "repeated"),
        ),
        ({"starts_at": shop.NOW - timedelta(hours=1)}, ("starts_at", "past")),
        ({"starts_at": shop.NOW + timedelta(days=400)}, ("starts_at", "too_far")),
        ({"currency": "EUR"}, ("currency", "unknown")),
    ],
)
def test_what_is_wrong_is_named_by_field(wanted, fault):
    assert fault in faults(**wanted)


def test_all_faults_are_named_at_once():
    assert faults(nodes=0, currency="EUR", site="nowhere") == {
        ("nodes", "min"),
        ("currency", "unknown"),
        ("site", "unknown"),
    }


def test_a_site_without_such_nodes_is_refused():
    place, other = shop.open_shop(), shop.open_shop()
    with pytest.raises(errors.Invalid) as caught:
        shop.quote(place, site=other.site.pk)
    assert caught.value.errors[0].code == "not_offered"


def test_ids_are_as_good_as_slugs():
    place = shop.open_shop()
    quote = shop.quote(place, site=place.site.pk, node_type=place.node_type.pk)
    assert (quote.site, quote.node_type) == (place.site, place.node_type)


def test_currency_is_free_until_the_first_order():
    place = shop.open_shop()
    dollars = shop.quote(place, currency="USD")
    assert dollars.total == 61440
    shop.place(place, of=dollars)
    place.organisation.refresh_from_db()
    assert place.organisation.currency == "USD"
    with pytest.raises(errors.Invalid) as caught:
        shop.quote(place, currency="CNY")
    assert caught.value.errors[0].code == "fixed"


def test_the_same_key_brings_the_same_quote():
    place = shop.open_shop()
    first = shop.quote(place, idempotency_key="k1")
    assert shop.quote(place, idempotency_key="k1", now=shop.NOW + timedelta(minutes=5)).pk == first.pk
    assert Quote.objects.count() == 1


def test_a_quote_for_later_expires_before_its_start():
    quote = shop.quote(shop.open_shop(), starts_at=shop.NOW + timedelta(minutes=20))
    assert quote.expires_at == quote.starts_at
    assert not quote.starts_now


def test_a_preview_leaves_nothing_behind():
    place = shop.open_shop()
    preview = quotes.preview(
        organisation=None,
        node_type=place.node_type.slug,
        site=place.site.slug,
        nodes=1,
        term={"unit": "month", "count": 1},
        now=shop.NOW,
    )
    assert preview.total == shop.AMOUNTS["month"]
    assert not Quote.objects.exists()


def test_every_line_has_words():
    place = shop.open_shop(tiers=True, tax=True)
    quote = shop.quote(place, nodes=2, term={"unit": "month", "count": 2})
    with translation.override("en"):
        words = [wording.line(line["key"], line["params"]) for line in quote.lines]
    assert words[0] == f"2 × {place.node_type.slug} for 2 months"
    assert words[1:] == ["Volume discount 3 % from 16 GPUs", "VAT 6 %"]
