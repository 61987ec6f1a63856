"""Metering: exact integers, the same rows whenever they are made, whatever the zone of an instant."""

import itertools
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs import metering
from jobs.metering import Hour, Interval

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def test_an_interval_is_cut_at_the_hours() -> None:
    assert metering.cut([Interval(at(-60), at(3660), 8)]) == [
        Hour(at(-3600), 480),
        Hour(at(0), 28800),
        Hour(at(3600), 480),
    ]
    assert metering.cut([Interval(at(0), at(3600), 1)]) == [Hour(at(0), 3600)]
    assert metering.cut([Interval(at(5), at(5), 8), Interval(at(5), at(9), 0)]) == []


def test_what_makes_no_sense_is_refused() -> None:
    for wrong in (
        Interval(at(1), at(0), 1),
        Interval(at(0), at(1), -1),
        Interval(at(0).replace(tzinfo=None), at(1), 1),
    ):
        with pytest.raises(ValueError, match=r"interval|instant"):
            metering.cut([wrong])


ZONES = st.sampled_from(["UTC", "Asia/Shanghai", "America/New_York", "Pacific/Kiritimati", "Asia/Kathmandu"])
INSTANTS = st.datetimes(
    datetime(2026, 1, 1), datetime(2027, 1, 1), timezones=st.just(UTC), allow_imaginary=False
)


@given(start=INSTANTS, seconds=st.floats(0, 40 * 3600), gpus=st.integers(0, 1024), zone=ZONES)
def test_rows_add_up_and_are_the_same_in_every_zone(
    start: datetime, seconds: float, gpus: int, zone: str
) -> None:
    end = start + timedelta(seconds=seconds)
    rows = metering.cut([Interval(start, end, gpus)])
    length = int(end.timestamp() // 1) - int(start.timestamp() // 1)
    assert metering.total(rows) == length * gpus
    assert all(0 < row.gpu_seconds <= 3600 * gpus for row in rows)
    assert all(row.start == row.start.replace(minute=0, second=0, microsecond=0) for row in rows)
    there = ZoneInfo(zone)
    assert metering.cut([Interval(start.astimezone(there), end.astimezone(there), gpus)]) == rows


@given(INSTANTS, st.lists(st.floats(0, 40 * 3600), min_size=2, max_size=6), st.integers(1, 64))
def test_observing_in_pieces_gives_the_rows_of_the_whole(
    start: datetime, cuts: list[float], gpus: int
) -> None:
    edges = [start + timedelta(seconds=offset) for offset in sorted(cuts)]
    pieces = [Interval(one, other, gpus) for one, other in itertools.pairwise(edges)]
    whole = metering.cut([Interval(edges[0], edges[-1], gpus)])
    assert metering.cut(pieces) == metering.cut(reversed(pieces)) == whole
