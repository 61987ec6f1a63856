"""Calendar arithmetic in zones: wall time is kept, months keep their anchor, DST days cost one day."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import calendar

SHANGHAI, NEW_YORK, KIRITIMATI = "Asia/Shanghai", "America/New_York", "Pacific/Kiritimati"
ZONES = st.sampled_from([SHANGHAI, NEW_YORK, KIRITIMATI, "UTC", "Europe/London", "Australia/Lord_Howe"])
INSTANTS = st.datetimes(datetime(2024, 1, 1), datetime(2034, 1, 1), timezones=st.just(UTC))


def wall(text: str, zone: str) -> datetime:
    return calendar.resolve(datetime.fromisoformat(text), zone)


@pytest.mark.parametrize(
    ("text", "zone", "expected"),
    [
        ("2026-05-01 00:00", SHANGHAI, "2026-04-30T16:00+00:00"),
        ("2026-05-01 00:00", KIRITIMATI, "2026-04-30T10:00+00:00"),
        ("2026-01-15 12:00", NEW_YORK, "2026-01-15T17:00+00:00"),
        ("2026-07-15 12:00", NEW_YORK, "2026-07-15T16:00+00:00"),
        ("2026-03-08 02:30", NEW_YORK, "2026-03-08T07:30+00:00"),  # in the gap: 03:30 summer time
        ("2026-11-01 01:30", NEW_YORK, "2026-11-01T05:30+00:00"),  # in the overlap: the first
    ],
)
def test_wall_times_become_instants(text: str, zone: str, expected: str) -> None:
    assert wall(text, zone) == datetime.fromisoformat(expected)


def test_an_instant_is_no_wall_time() -> None:
    with pytest.raises(ValueError, match="no zone"):
        calendar.resolve(datetime(2026, 1, 1, tzinfo=UTC), SHANGHAI)


@pytest.mark.parametrize(
    ("day", "hours"), [("2026-03-07", 23), ("2026-03-08", 24), ("2026-10-31", 25), ("2026-11-01", 24)]
)
def test_days_around_a_change_of_clocks(day: str, hours: int) -> None:
    start = wall(f"{day} 12:00", NEW_YORK)
    end = calendar.add_days(start, 1, NEW_YORK)
    assert end - start == timedelta(hours=hours)
    assert calendar.day_count(start, end, NEW_YORK) == 1
    assert calendar.day_count(start, end + timedelta(seconds=1), NEW_YORK) == 2


def test_a_day_from_within_the_gap_ends_after_it_and_from_the_overlap_at_its_first_instant() -> None:
    start = wall("2026-03-07 02:30", NEW_YORK)
    assert calendar.add_days(start, 1, NEW_YORK) == wall("2026-03-08 03:30", NEW_YORK)
    assert calendar.add_days(start, 2, NEW_YORK) == wall("2026-03-09 02:30", NEW_YORK)
    start = wall("2026-10-31 01:30", NEW_YORK)
    assert calendar.add_days(start, 1, NEW_YORK) == datetime(2026, 11, 1, 5, 30, tzinfo=UTC)


@pytest.mark.parametrize("zone", [SHANGHAI, NEW_YORK, KIRITIMATI])
def test_months_keep_their_anchor_day(zone: str) -> None:
    start = wall("2026-01-31 09:30", zone)
    ends = [calendar.local(calendar.add_months(start, count, zone), zone) for count in range(1, 6)]
    assert [(end.month, end.day) for end in ends] == [(2, 28), (3, 31), (4, 30), (5, 31), (6, 30)]
    assert {(end.hour, end.minute) for end in ends} == {(9, 30)}


def test_a_chain_of_months_comes_back_to_the_anchor() -> None:
    instant, days = wall("2027-12-31 00:00", SHANGHAI), []
    for _ in range(4):
        instant = calendar.add_months(instant, 1, SHANGHAI, anchor_day=31)
        days.append(calendar.local_day(instant, SHANGHAI))
    assert days == [31, 29, 31, 30]


def test_29_february() -> None:
    leap = wall("2028-02-29 10:00", KIRITIMATI)
    assert calendar.add_months(leap, 12, KIRITIMATI) == wall("2029-02-28 10:00", KIRITIMATI)
    assert calendar.add_months(leap, 48, KIRITIMATI) == wall("2032-02-29 10:00", KIRITIMATI)
    assert calendar.add_days(leap, 1, KIRITIMATI) == wall("2028-03-01 10:00", KIRITIMATI)
    assert calendar.add_months(leap, 1, KIRITIMATI, anchor_day=31) == wall("2028-03-31 10:00", KIRITIMATI)


def test_the_local_day_is_that_of_the_zone() -> None:
    instant = datetime(2026, 4, 30, 23, tzinfo=UTC)
    days = [calendar.local_day(instant, zone) for zone in (NEW_YORK, "UTC", SHANGHAI, KIRITIMATI)]
    assert days == [30, 30, 1, 1]


@given(INSTANTS, st.integers(0, 800), ZONES)
def test_days_are_counted_as_they_are_added(start: datetime, days: int, zone: str) -> None:
    # From a wall time: an instant in the second half of an overlap has a twin that comes first.
    start = calendar.resolve(calendar.local(start, zone).replace(tzinfo=None), zone)
    end = calendar.add_days(start, days, zone)
    assert calendar.day_count(start, end, zone) == days
    if days:
        assert calendar.day_count(start, end - timedelta(microseconds=1), zone) == days
        assert end > calendar.add_days(start, days - 1, zone)


@given(INSTANTS, st.integers(0, 120), ZONES)
def test_months_move_forward_and_keep_the_wall_time(start: datetime, months: int, zone: str) -> None:
    end = calendar.add_months(start, months, zone)
    assert calendar.add_months(start, months + 1, zone) > end
    before, after = calendar.local(start, zone), calendar.local(end, zone)
    assert (after.year - before.year) * 12 + after.month - before.month == months
    assert after.day <= before.day
    assert after.utcoffset() != before.utcoffset() or after.time() == before.time()


def test_an_empty_span_costs_nothing() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    assert calendar.day_count(now, now, SHANGHAI) == 0
    assert calendar.day_count(now, now - timedelta(days=3), SHANGHAI) == 0
