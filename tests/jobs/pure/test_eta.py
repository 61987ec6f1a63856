"""The end of a run by its pace: within a range, later when it stalls, nothing while nothing is known."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs import eta

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def test_the_pace_since_the_start_goes_on() -> None:
    end = eta.expected_end(begun=0, step=50, total=100, started_at=at(-500), now=NOW)
    assert end == eta.End(at(350), at(650))
    end = eta.expected_end(begun=900, step=999, total=1000, started_at=at(-990), now=NOW)
    assert end is not None
    assert at(8.9) < end.earliest < at(10) < end.latest < at(11.1)


def test_a_stalled_run_ends_later() -> None:
    ends = [
        eta.expected_end(begun=0, step=50, total=100, started_at=NOW, now=at(now)) for now in (10, 20, 90)
    ]
    latest = [end.latest for end in ends if end is not None]
    assert len(latest) == 3
    assert latest == sorted(latest)


@pytest.mark.parametrize(
    ("begun", "step", "total", "started"),
    [
        (0, None, 10, 0),
        (0, 5, None, 0),
        (0, 5, 10, None),
        (5, 5, 10, 0),
        (0, 11, 10, 0),
        (0, 0, 10, 0),
        (0, 1, 2, 9),
    ],
)
def test_nothing_is_said_while_nothing_is_known(
    begun: int, step: int | None, total: int | None, started: int | None
) -> None:
    started_at = None if started is None else at(started)
    assert eta.expected_end(begun=begun, step=step, total=total, started_at=started_at, now=NOW) is None


@given(st.integers(0, 10**18), st.integers(1, 10**18), st.integers(0, 10**18), st.floats(0, 10**9))
def test_the_range_is_in_order_and_not_in_the_past(begun: int, done: int, left: int, spent: float) -> None:
    end = eta.expected_end(
        begun=begun, step=begun + done, total=begun + done + left, started_at=at(-spent), now=NOW
    )
    if end is not None:
        assert NOW <= end.earliest <= end.latest
