"""Terms and the spans they cover: years, months and days from a start, calendar-true in a zone. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core import calendar

UNITS = ("day", "month", "year")
MAX_COUNT = {"day": 1826, "month": 60, "year": 5}  # five years of each


@dataclass(frozen=True, slots=True)
class Term:
    """How long something is rented: years, then months, then days, counted from the start in this order."""

    years: int = 0
    months: int = 0
    days: int = 0

    @classmethod
    def of(cls, unit: str, count: int) -> "Term":
        """Return the term of one unit: ``Term.of("month", 2)``."""
        return cls(**{f"{unit}s": count})

    @property
    def parts(self) -> tuple[tuple[str, int], ...]:
        """Pairs of unit and count, the longest first, without empty ones."""
        pairs = (("year", self.years), ("month", self.months), ("day", self.days))
        return tuple(pair for pair in pairs if pair[1])

    def as_dict(self) -> dict[str, Any]:
        """Return ``{"unit", "count"}``; a term of several units lists the rest under ``then``."""
        (unit, count), *rest = self.parts
        shape: dict[str, Any] = {"unit": unit, "count": count}
        if rest:
            shape["then"] = [{"unit": unit, "count": count} for unit, count in rest]
        return shape


def from_parts(parts: Sequence[Mapping[str, Any]]) -> Term:
    """Return the term of ``[{"unit", "count"}, …]``; each unit may stand there once."""
    return Term(**{f"{part['unit']}s": int(part["count"]) for part in parts})


def end(start: datetime, term: Term, zone: str, anchor_day: int | None = None) -> datetime:
    """Return when a term ends: at the same local wall time, months clamped to their last day."""
    return calendar.add_days(month_end(start, term, zone, anchor_day), term.days, zone)


def month_end(start: datetime, term: Term, zone: str, anchor_day: int | None = None) -> datetime:
    """Return when the years and months of a term end, before its days are counted."""
    return calendar.add_months(start, term.years * 12 + term.months, zone, anchor_day)


def months_covering(start: datetime, stop: datetime, zone: str, anchor_day: int | None = None) -> int:
    """Return the least number of whole months that reach from ``start`` to ``stop`` or beyond."""
    first, last = calendar.local(start, zone), calendar.local(stop, zone)
    months = max((last.year - first.year) * 12 + last.month - first.month - 1, 0)
    while calendar.add_months(start, months, zone, anchor_day) < stop:
        months += 1
    return months
