"""The demo price list follows its rules and can be seeded again."""

from datetime import timedelta
from fractions import Fraction

import pytest

from billing.models import Price, TaxRate, VolumeTier
from billing.services import demo, prices
from clusters.models import NodeType
from clusters.services import demo as fleet_demo
from tests.support import shop

pytestmark = pytest.mark.django_db


def test_every_node_type_has_prices_in_both_currencies_and_all_units():
    fleet_demo.seed(now=shop.NOW)
    demo.seed(now=shop.NOW)
    assert Price.objects.count() == NodeType.objects.count() * 3 * 2
    assert not Price.objects.filter(is_demo=False).exists()
    assert not VolumeTier.objects.filter(is_demo=False).exists()
    assert not TaxRate.objects.filter(is_demo=False).exists()
    h100 = NodeType.objects.get(slug="h100-8x")
    assert prices.price_list(h100, "USD", shop.NOW).amounts == {
        "day": 320 * 24 * 8,
        "month": Fraction(320 * 720 * 8 * 85, 100),
        "year": Fraction(320 * 8760 * 8 * 60, 100),
    }
    assert prices.price_list(h100, "CNY", shop.NOW).amounts["day"] == 320 * 24 * 8 * Fraction(72, 10)


def test_seeding_again_changes_nothing():
    fleet_demo.seed(now=shop.NOW)
    demo.seed(now=shop.NOW)
    before = set(Price.objects.values_list("pk", "amount"))
    demo.seed(now=shop.NOW)
    assert set(Price.objects.values_list("pk", "amount")) == before
    assert VolumeTier.objects.count() == len(demo.TIERS)


def test_a_new_price_starts_where_the_old_one_ends():
    place = shop.open_shop()
    quoted = shop.quote(place)
    prices.set_price(
        node_type=place.node_type, unit="day", currency="CNY", amount=500000, from_=shop.NOW, is_demo=False
    )
    assert shop.quote(place).total == 500000
    quoted.refresh_from_db()
    assert quoted.total == shop.AMOUNTS["day"]
    assert (
        prices.price_list(place.node_type, "CNY", shop.NOW - timedelta(days=1)).amounts["day"]
        == (shop.AMOUNTS["day"])
    )
