"""GPU time of a run, cut into the hours of the clock: the same observations give the same rows."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

HOUR = timedelta(hours=1)
SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Interval:
    """GPUs held from ``start`` to before ``end``, as observed; both aware."""

    start: datetime
    end: datetime
    gpus: int


@dataclass(frozen=True, slots=True)
class Hour:
    """GPU-seconds within the hour that starts at ``start`` (UTC, whole)."""

    start: datetime
    gpu_seconds: int


def cut(intervals: Iterable[Interval]) -> list[Hour]:
    """Return the GPU-seconds of each hour that intervals touch, oldest first, empty hours left out.

    Instants count in whole seconds, rounded down, so that intervals that meet leave no gap,
    and the rows of an interval add up to its length times its GPUs. Raises ValueError for a naive instant,
    an end before its start, or a negative number of GPUs.
    """
    hours: dict[datetime, int] = {}
    for interval in intervals:
        start, end = _whole(interval.start), _whole(interval.end)
        if end < start or interval.gpus < 0:
            raise ValueError("an interval ends after its start and holds no negative number of GPUs")
        while start < end:
            hour = start.replace(minute=0, second=0)
            until = min(end, hour + HOUR)
            hours[hour] = hours.get(hour, 0) + (until - start) // SECOND * interval.gpus
            start = until
    return [Hour(hour, hours[hour]) for hour in sorted(hours) if hours[hour]]


def total(hours: Iterable[Hour]) -> int:
    """Return all GPU-seconds of rows."""
    return sum(hour.gpu_seconds for hour in hours)


def _whole(instant: datetime) -> datetime:
    if instant.tzinfo is None:
        raise ValueError("an instant needs a zone")
    return instant.astimezone(UTC).replace(microsecond=0)
