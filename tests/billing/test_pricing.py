"""Prices: lines add up, the quote is the cheapest cover of its span or the cheaper one is named."""

from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from billing import periods, pricing
from billing.periods import Term
from core import calendar

ZONES = ("Asia/Shanghai", "America/New_York", "Pacific/Kiritimati")
H100 = pricing.PriceList("USD", {"day": 61440, "month": 1566720, "year": 13455360})
TIERS = (pricing.Tier(16, Fraction(3)), pricing.Tier(64, Fraction(6)), pricing.Tier(256, Fraction(10)))

starts = st.datetimes(datetime(2024, 1, 1), datetime(2030, 12, 31), timezones=st.just(UTC))
zones = st.sampled_from(ZONES)
terms = st.one_of(
    st.builds(Term, days=st.integers(1, 800)),
    st.builds(Term, months=st.integers(1, 40)),
    st.builds(Term, years=st.integers(1, 4)),
)
price_lists = st.builds(
    lambda day, month, year: pricing.PriceList("CNY", {"day": day, "month": month, "year": year}),
    day=st.integers(1, 10_000),
    month=st.integers(1, 400_000),
    year=st.integers(1, 5_000_000),
)
goods_of = st.builds(
    pricing.Goods,
    node_type=st.just("h100-8"),
    nodes=st.integers(1, 128),
    gpus_per_node=st.integers(1, 8),
    tiers=st.just(TIERS),
    taxes=st.lists(
        st.builds(pricing.Tax, st.just("VAT"), st.decimals(0, 30, places=2).map(Fraction)), max_size=2
    ),
)


def goods(nodes: int = 1, **kwargs) -> pricing.Goods:
    return pricing.Goods("h100-8", nodes, 8, **kwargs)


def brute_force(start: datetime, stop: datetime, prices: pricing.PriceList, zone: str) -> int:
    """The cheapest cover by trying everything, day by day: no cleverness to share a mistake with."""
    best = None
    for years in range(6):
        for months in range(62 if years == 0 else 13):
            base = calendar.add_months(start, years * 12 + months, zone)
            days = 0
            while calendar.add_days(base, days, zone) < stop:
                days += 1
                if days > 400:
                    break
            else:
                cost = prices.cost(Term(years, months, days))
                best = cost if best is None else min(best, cost)
            if base >= stop:
                break
    assert best is not None
    return best


@given(goods_of, terms, price_lists)
def test_lines_add_up(goods, term, prices):
    offer = pricing.offer(goods, term, prices)
    assert sum(line.amount for line in offer.lines) == offer.total
    assert offer.total == offer.subtotal - offer.discount + offer.tax
    assert offer.subtotal == sum(line.amount for line in offer.lines if line.kind == "goods")
    assert -offer.discount == sum(line.amount for line in offer.lines if line.kind == "discount")
    assert offer.tax == sum(line.amount for line in offer.lines if line.kind == "tax")
    assert all(line.quantity * line.unit_price == line.amount for line in offer.lines)
    assert all(isinstance(line.amount, int) for line in offer.lines)


@settings(deadline=None)
@given(goods_of, terms, price_lists, starts, zones)
def test_quote_is_cheapest_or_cheaper_is_named(goods, term, prices, start, zone):
    stop = periods.end(start, term, zone)
    named = pricing.cheaper(goods, term, prices, start, zone)
    cover = pricing.cheapest_cover(start, stop, prices, zone)
    best = pricing.offer(goods, cover, prices).total
    asked = pricing.offer(goods, term, prices).total
    if named is None:
        assert asked <= best
    else:
        assert named.total == best < asked
        assert named.ends_at >= stop
        assert pricing.offer(goods, named.term, prices).total == named.total


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 400), price_lists, starts, zones)
def test_cover_equals_brute_force(days, prices, start, zone):
    stop = calendar.add_days(start, days, zone)
    cover = pricing.cheapest_cover(start, stop, prices, zone)
    assert periods.end(start, cover, zone) >= stop
    assert prices.cost(cover) == brute_force(start, stop, prices, zone)


@settings(deadline=None)
@given(terms, starts, zones)
def test_ends_at_the_same_wall_time(term, start, zone):
    end = periods.end(start, term, zone)
    wall, before = calendar.local(end, zone), calendar.local(start, zone)
    if zone != "America/New_York":  # no daylight saving: never moved out of a gap
        assert wall.time() == before.time()
    if term.days:
        assert (wall.date() - before.date()).days == term.days
    assert end > start


def test_month_ends_clamp_and_come_back():
    start = datetime(2026, 1, 31, 2, tzinfo=UTC)  # 10:00 in Shanghai
    ends = [calendar.local(periods.end(start, Term(months=n), ZONES[0]), ZONES[0]).day for n in range(1, 5)]
    assert ends == [28, 31, 30, 31]
    february = periods.end(start, Term(months=1), ZONES[0])
    assert calendar.local(periods.end(february, Term(months=1), ZONES[0], anchor_day=31), ZONES[0]).day == 31


def test_leap_day_rents_a_year():
    start = datetime(2028, 2, 29, 4, tzinfo=UTC)
    assert periods.end(start, Term(years=1), ZONES[0]) == datetime(2029, 2, 28, 4, tzinfo=UTC)


@pytest.mark.parametrize(
    ("start", "hours"),
    [
        (datetime(2026, 3, 7, 17, tzinfo=UTC), 23),  # noon to noon over the gap of 8 March
        (datetime(2026, 10, 31, 16, tzinfo=UTC), 25),  # and over the overlap of 1 November
    ],
)
def test_a_day_of_23_or_25_hours_costs_one_day(start, hours):
    end = periods.end(start, Term(days=1), "America/New_York")
    assert end - start == timedelta(hours=hours)
    cover = pricing.cheapest_cover(start, end, H100, "America/New_York")
    assert cover == Term(days=1)


def test_300_days_names_the_year():
    start = datetime(2026, 5, 1, tzinfo=UTC)
    named = pricing.cheaper(goods(), Term(days=300), H100, start, ZONES[0])
    assert named is not None
    assert named.term == Term(years=1)
    assert named.total == 13455360


def test_45_days_names_a_month_and_days():
    start = datetime(2026, 5, 1, tzinfo=UTC)
    named = pricing.cheaper(goods(), Term(days=45), H100, start, ZONES[0])
    assert named is not None
    assert named.term == Term(months=1, days=14)
    assert named.term.as_dict() == {"unit": "month", "count": 1, "then": [{"unit": "day", "count": 14}]}


def test_volume_tier_then_tax_on_what_is_left():
    taxes = (pricing.Tax("VAT", Fraction(6)),)
    offer = pricing.offer(goods(8, tiers=TIERS, taxes=taxes), Term(days=2), H100)
    assert [(line.kind, line.amount) for line in offer.lines] == [
        ("goods", 983040),
        ("discount", -58982),  # 6 % of 983040 = 58982.4
        ("tax", 55443),  # 6 % of 924058 = 55443.48
    ]
    assert offer.lines[0].quantity == 16
    assert offer.lines[1].params == {"percent": "6", "min_gpus": 64, "gpus": 64}


def test_halves_round_away_from_zero():
    prices = pricing.PriceList("CNY", {"day": 50})
    one = pricing.Goods("t4-1", 1, 16, tiers=(pricing.Tier(16, Fraction(3)),))
    assert pricing.offer(one, Term(days=1), prices).lines[1].amount == -2  # 1.5 up, away from zero


def test_per_gpu_hour_is_for_show():
    assert pricing.per_gpu_hour(61440, "day", 8) == 320
    assert pricing.per_gpu_hour(1566720, "month", 8) == 272
    assert pricing.per_gpu_hour(13455360, "year", 8) == 192


def test_break_even_points():
    assert pricing.break_even(H100, "month", "day") == 26
    assert pricing.break_even(H100, "year", "day") == 219
    assert pricing.break_even(H100, "year", "month") == 9
    assert pricing.break_even(pricing.PriceList("USD", {"day": 5}), "year", "day") is None


def test_a_unit_that_is_not_sold_is_never_used():
    prices = pricing.PriceList("USD", {"day": 10, "year": 1000})
    start = datetime(2026, 5, 1, tzinfo=UTC)
    stop = periods.end(start, Term(days=200), ZONES[0])
    assert pricing.cheapest_cover(start, stop, prices, ZONES[0]) == Term(years=1)
    assert pricing.PriceList("USD", {}).cost(Term(days=1)) is None
    assert pricing.cheapest_cover(start, stop, pricing.PriceList("USD", {}), ZONES[0]) is None
