"""Calendar arithmetic in a named zone: days, months and years that end at the same local wall time."""

import calendar
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo


def local(instant: datetime, zone: str) -> datetime:
    """Return an aware instant as seen in the zone."""
    return instant.astimezone(ZoneInfo(zone))


def resolve(wall: datetime, zone: str) -> datetime:
    """Return the UTC instant of a naive local wall time.

    In a gap of daylight saving the time moves forward by the gap; in an overlap the first instant counts.
    """
    if wall.tzinfo is not None:
        raise ValueError("a wall time has no zone of its own")
    # fold=0: the first of two instants in an overlap; in a gap the offset before it, which moves forward.
    return wall.replace(tzinfo=ZoneInfo(zone), fold=0).astimezone(UTC)


def add_days(instant: datetime, days: int, zone: str) -> datetime:
    """Return the instant a number of calendar days later, at the same local wall time."""
    wall = local(instant, zone).replace(tzinfo=None)
    return resolve(wall + timedelta(days=days), zone)


def add_months(instant: datetime, months: int, zone: str, anchor_day: int | None = None) -> datetime:
    """Return the instant a number of calendar months later, at the same local wall time.

    ``anchor_day`` is the day of the month on which the lease first counted months; a shorter month clamps
    to its last day, and the next longer one comes back to the anchor (31 Jan, 28 Feb, 31 Mar).
    """
    wall = local(instant, zone).replace(tzinfo=None)
    anchor = anchor_day or wall.day
    count = wall.year * 12 + wall.month - 1 + months
    year, month = divmod(count, 12)
    day = min(anchor, calendar.monthrange(year, month + 1)[1])
    return resolve(wall.replace(year=year, month=month + 1, day=day), zone)


def local_day(instant: datetime, zone: str) -> int:
    """Return the local day of the month of an instant: the anchor of a lease that starts then."""
    return local(instant, zone).day


def day_count(start: datetime, end: datetime, zone: str) -> int:
    """Return how many calendar days cover ``[start, end)``, whole days rounded up; 0 for an empty span."""
    if end <= start:
        return 0
    days = (local(end, zone).date() - local(start, zone).date()).days
    while add_days(start, days, zone) < end:
        days += 1
    while days > 0 and add_days(start, days - 1, zone) >= end:
        days -= 1
    return days
