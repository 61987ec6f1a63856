"""Cost over days for the units of a price list: where a longer unit begins to pay."""

from collections.abc import Mapping

from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext

from core.money import MINOR_UNITS
from portal.ui import charts, scale, words

DAYS = {"day": 1, "month": 30, "year": 365}
LONGEST = 365


def breakeven(
    amounts: Mapping[str, int], currency: str, *, chosen_days: float | None = None, chosen: int | None = None
) -> SafeString:
    """Draw what a span of 1 to 365 days costs by day, by month and by year, before tax and discount.

    ``amounts`` are minor units for the whole size asked for; a unit that is not sold is absent. The dot
    is the term that was chosen.
    """
    names = {"day": gettext("by day"), "month": gettext("by month"), "year": gettext("by year")}
    series = [
        charts.Series(names[unit], _points(amounts[unit], unit), steps=True)
        for unit in DAYS
        if unit in amounts
    ]
    marks = [charts.Mark(at, word) for at, word in _crossings(amounts)]
    if chosen_days is not None and chosen is not None:
        marks.append(charts.Mark(min(chosen_days, LONGEST), gettext("your choice"), chosen / MINOR_UNITS))
    sign = words.SIGNS[currency]
    return charts.line(
        series,
        title=gettext("What a span costs, by unit of rent"),
        x_unit=gettext("days"),
        y_unit=" · ".join([sign, gettext("before tax")]),
        y_words=scale.short,
        marks=marks,
        from_zero=True,
        table_id="breakeven-table",
        width=charts.NARROW,
    )


def _points(amount: int, unit: str) -> list[tuple[float, float | None]]:
    length = DAYS[unit]
    jumps = {0, 1, LONGEST} | {start + extra for start in range(0, LONGEST, length) for extra in (0, 1)}
    if unit == "day":
        jumps = set(range(0, LONGEST + 1, 15)) | {1, LONGEST}
    return [
        (day, max(1, -(-day // length)) * amount / MINOR_UNITS) for day in sorted(jumps) if 0 < day <= LONGEST
    ]


def _crossings(amounts: Mapping[str, int]) -> list[tuple[float, str]]:
    """Return from how many days on a longer unit costs no more than the next shorter one."""
    found = []
    for longer, shorter in (("month", "day"), ("year", "month")):
        if longer in amounts and shorter in amounts:
            count = -(-amounts[longer] // amounts[shorter])
            if shorter == "day":
                word = ngettext("month pays from {n} day", "month pays from {n} days", count).format(n=count)
            else:
                word = ngettext("year pays from {n} month", "year pays from {n} months", count).format(
                    n=count
                )
            found.append((float(count * DAYS[shorter]), word))
    return found
