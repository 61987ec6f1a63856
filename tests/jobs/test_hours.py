"""GPU time by the hour when the end of a run is told after more was counted."""

from datetime import UTC, datetime, timedelta

from jobs.models import Run
from jobs.services import hours
from tests.support.training import World

START = datetime(2026, 3, 2, 12, 40, tzinfo=UTC)


def counted(run: Run) -> list[tuple[int, int]]:
    return [(row.hour.hour, row.gpu_seconds) for row in run.hours.order_by("hour")]


def test_what_was_counted_behind_the_end_goes_again(world: World) -> None:
    """The beat counted on while nobody could see that the pods had ended."""
    run = world.submit().runs.get()
    run.started_at = START
    assert hours.write(run, until=START + timedelta(minutes=100)) == 6000
    assert counted(run) == [(12, 1200), (13, 3600), (14, 1200)]
    assert hours.write(run, until=START + timedelta(minutes=19)) == 1140
    assert counted(run) == [(12, 1140)]
    assert hours.write(run, until=START + timedelta(milliseconds=10)) == 0
    assert counted(run) == []
