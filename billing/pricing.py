"""What a term costs and the cheapest way to cover its span. Pure: plain values in, integer minor units out.

Each line is rounded once, half up away from zero; all lines of an offer add up to its total.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from typing import Any

from billing import periods
from billing.periods import Term
from core import calendar
from core.money import round_half_up

HOURS = {"day": 24, "month": 720, "year": 8760}  # for show: price per GPU-hour


@dataclass(frozen=True, slots=True)
class PriceList:
    """Minor units per node and unit of time, in one currency. A unit that is not sold is absent."""

    currency: str
    amounts: Mapping[str, int]

    def cost(self, term: Term) -> int | None:
        """Return what one node costs for a term; None when a unit of it is not sold."""
        if any(unit not in self.amounts for unit, _ in term.parts):
            return None
        return sum(self.amounts[unit] * count for unit, count in term.parts)


@dataclass(frozen=True, slots=True)
class Tier:
    """From this many GPUs on, this part of the goods is taken off."""

    min_gpus: int
    percent: Fraction


@dataclass(frozen=True, slots=True)
class Tax:
    """A rate by its title; demo rates say so in the title's place in the price book."""

    title: str
    percent: Fraction


@dataclass(frozen=True, slots=True)
class Line:
    """One line: goods are positive, discounts negative; ``key`` and ``params`` are worded per language."""

    kind: str
    key: str
    params: Mapping[str, Any]
    quantity: int
    unit_price: int
    amount: int

    def as_dict(self) -> dict[str, Any]:
        """Return the line as quotes and invoices store it."""
        return {
            "kind": self.kind,
            "key": self.key,
            "params": dict(self.params),
            "quantity": self.quantity,
            "unit_price": self.unit_price,
            "amount": self.amount,
        }


@dataclass(frozen=True, slots=True)
class Offer:
    """Lines and their sums: ``total = subtotal - discount + tax``."""

    lines: tuple[Line, ...]
    subtotal: int
    discount: int
    tax: int
    total: int


@dataclass(frozen=True, slots=True)
class Cheaper:
    """A term that covers the asked span for less money."""

    term: Term
    total: int
    ends_at: datetime


@dataclass(frozen=True, slots=True)
class Goods:
    """What is bought: nodes of a type with so many GPUs each, under its discounts and taxes."""

    node_type: str
    nodes: int
    gpus_per_node: int
    tiers: Sequence[Tier] = field(default=())
    taxes: Sequence[Tax] = field(default=())

    @property
    def gpus(self) -> int:
        """All GPUs together: the figure that volume tiers look at."""
        return self.nodes * self.gpus_per_node


def offer(goods: Goods, term: Term, prices: PriceList) -> Offer:
    """Price a term: a goods line per unit, the volume tier as a negative line, a tax line per rate.

    Raises KeyError when a unit of the term is not sold.
    """
    lines = [_goods_line(goods, unit, count, prices.amounts[unit]) for unit, count in term.parts]
    subtotal = sum(line.amount for line in lines)
    tier = tier_for(goods.gpus, goods.tiers)
    if tier is not None and (off := round_half_up(subtotal * tier.percent / 100)):
        params = {"percent": _percent(tier.percent), "min_gpus": tier.min_gpus, "gpus": goods.gpus}
        lines.append(Line("discount", "volume", params, 1, -off, -off))
    net = sum(line.amount for line in lines)
    for rate in goods.taxes:
        if amount := round_half_up(net * rate.percent / 100):
            params = {"title": rate.title, "percent": _percent(rate.percent)}
            lines.append(Line("tax", "tax", params, 1, amount, amount))
    total = sum(line.amount for line in lines)
    return Offer(tuple(lines), subtotal, subtotal - net, total - net, total)


def cheapest_cover(
    start: datetime, stop: datetime, prices: PriceList, zone: str, anchor_day: int | None = None
) -> Term | None:
    """Return the cheapest term of years, months and days that reaches from ``start`` to ``stop`` or beyond.

    Among equal prices the shortest end wins, then the fewest parts. None when no unit is sold.
    """
    best: tuple[int, datetime, int] | None = None
    found: Term | None = None
    limit = periods.months_covering(start, stop, zone, anchor_day)
    for months in range(-(-limit // 12) * 12 + 1):
        base = calendar.add_months(start, months, zone, anchor_day)
        days = calendar.day_count(base, stop, zone)
        for years in _year_splits(months, prices):
            term = Term(years, months - 12 * years, days)
            cost = prices.cost(term)
            if cost is None:
                continue
            rank = (cost, max(base, calendar.add_days(base, days, zone)), len(term.parts))
            if best is None or rank < best:
                best, found = rank, term
    return found


def cheaper(
    goods: Goods, term: Term, prices: PriceList, start: datetime, zone: str, anchor_day: int | None = None
) -> Cheaper | None:
    """Name the cheapest cover of the term's span when it costs less than the term itself."""
    stop = periods.end(start, term, zone, anchor_day)
    cover = cheapest_cover(start, stop, prices, zone, anchor_day)
    if cover is None or cover == term:
        return None
    total = offer(goods, cover, prices).total
    if total >= offer(goods, term, prices).total:
        return None
    return Cheaper(cover, total, periods.end(start, cover, zone, anchor_day))


def tier_for(gpus: int, tiers: Sequence[Tier]) -> Tier | None:
    """Return the highest tier that this many GPUs reach."""
    reached = [tier for tier in tiers if tier.min_gpus <= gpus]
    return max(reached, key=lambda tier: tier.min_gpus, default=None)


def per_gpu_hour(amount: int, unit: str, gpus_per_node: int) -> int:
    """Return a node's price as minor units per GPU-hour, for show: ÷ 24, 720 or 8760, half up."""
    return round_half_up(Fraction(amount, gpus_per_node * HOURS[unit]))


def break_even(prices: PriceList, longer: str, shorter: str) -> int | None:
    """Return from how many shorter units on one longer unit costs no more; None when either is not sold."""
    if longer not in prices.amounts or shorter not in prices.amounts:
        return None
    return -(-prices.amounts[longer] // prices.amounts[shorter])


def _year_splits(months: int, prices: PriceList) -> range:
    """Return the numbers of years to try: the cost is linear in them, so an end of the range is cheapest."""
    most = months // 12
    if "year" not in prices.amounts:
        return range(1)
    if "month" not in prices.amounts:
        return range(most, most + 1)
    return range(0, most + 1, max(most, 1))


def _goods_line(goods: Goods, unit: str, count: int, price: int) -> Line:
    quantity = goods.nodes * count
    params = {"nodes": goods.nodes, "node_type": goods.node_type, "unit": unit, "count": count}
    return Line("goods", "rent", params, quantity, price, quantity * price)


def _percent(percent: Fraction) -> str:
    """Return a rate as plain text: 6, 12.5."""
    whole, hundredths = divmod(round_half_up(percent * 100), 100)
    return f"{whole}.{hundredths:02d}".rstrip("0").rstrip(".")
