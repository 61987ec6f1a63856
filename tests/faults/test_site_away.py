"""The site is away or answers with faults: states stand still, nothing is done twice, work goes on."""

import itertools
import random
from collections.abc import Callable
from typing import Any

import pytest

from jobs.models import Job
from jobs.services import collector, watcher
from k8s import errors
from k8s.embedded.port import EmbeddedPort
from tests.faults.test_between_steps import EXPECTED
from tests.support import steps
from tests.support.training import World

pytestmark = [pytest.mark.django_db, pytest.mark.faults]
CALLS = ("apply", "get", "delete", "list_objects", "list_pytorchjobs", "list_pods", "read_log")
FAULTS: tuple[Callable[[], errors.Error], ...] = (
    lambda: errors.Conflict("409: somebody else changed it"),
    lambda: errors.Gone("410: too old"),
    lambda: errors.Unavailable("429: too many requests", retry_after=1),
    lambda: errors.Unavailable("500: something broke"),
)
UP = ("queued", "launching", "pending", "running")
MEANWHILE = 12  # looks at a site that is away


def take_away(patch: pytest.MonkeyPatch) -> None:
    def away(self: EmbeddedPort, *args: Any, **kwargs: Any) -> Any:
        raise errors.Unavailable("nobody answers")

    for name in CALLS:
        patch.setattr(EmbeddedPort, name, away)


def stand_still(player: steps.Player, job: Job) -> None:
    """Work on while the site is away, and see that no state moves."""
    before = states(job)
    for _ in range(MEANWHILE):
        player.tick()
        assert states(job) == before


def states(job: Job) -> list[Any]:
    job.refresh_from_db()
    return [job.status, *job.runs.order_by("number").values_list("number", "status", "holds")]


@pytest.mark.parametrize("phase", ["launching", "pending", "running", "failed"])
def test_a_site_that_is_away_moves_no_state(
    world: World, monkeypatch: pytest.MonkeyPatch, phase: str
) -> None:
    player = steps.Player(world)
    job = player.submit()
    with monkeypatch.context() as patch:
        if phase == "launching":
            take_away(patch)
            player.tick()
        while job.runs.get(number=1).status != phase:
            world.tick(watch=phase != "pending")
        take_away(patch)
        if phase == "failed":
            player.tick()  # the follower is admitted when the GPUs are free, or waits for them
        stand_still(player, job)
    player.rest(job)
    end = steps.outcome(world, job)
    delayed = [event for event in end["events"] if event[1] == "launch_delayed"]
    assert delayed in ([], [(1, "launch_delayed")], [(2, "launch_delayed")])
    assert {**end, "events": [event for event in end["events"] if event not in delayed]} == EXPECTED


def test_a_site_that_answers_with_faults_changes_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call in five fails, with each kind of fault in turn."""
    player = steps.Player(world)
    job = player.submit()
    chance, faults = random.Random(5), itertools.cycle(FAULTS)

    def flaky(original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            if chance.random() < 0.2:
                raise next(faults)()
            return original(*args, **kwargs)

        return call

    with monkeypatch.context() as patch:
        for name in CALLS:
            patch.setattr(EmbeddedPort, name, flaky(getattr(EmbeddedPort, name)))
        player.rest(job)
    end = steps.outcome(world, job)
    events = [event for event in end["events"] if event[1] != "launch_delayed"]
    assert {**end, "events": events} == EXPECTED
    assert [key for key, _ in itertools.groupby(player.statuses)][-1] == "succeeded"
    order = [
        "queued",
        "launching",
        "pending",
        "running",
        "queued",
        "launching",
        "pending",
        "running",
        "succeeded",
    ]
    told = iter(order)
    assert all(status in told for status, _ in itertools.groupby(player.statuses)), player.statuses


def test_one_run_in_trouble_holds_up_no_other(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The site answers for all runs but one: the others are watched and collected."""
    jobs = [world.submit(code="print('hello')") for _ in range(3)]
    names = [job.runs.get().object_name for job in jobs]
    real = EmbeddedPort.read_log

    def read_log(self: EmbeddedPort, namespace: str, pod: str, **kwargs: Any) -> Any:
        if pod.startswith(names[0]):
            raise errors.Unavailable("its node does not answer")
        return real(self, namespace, pod, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(EmbeddedPort, "read_log", read_log)
        world.until(lambda: all(world.status(job) == "succeeded" for job in jobs))
        world.until(lambda: all(job.runs.get().collected for job in jobs[1:]))
        assert not jobs[0].runs.get().collected
    world.ended(jobs[0])
    assert watcher.resync(world.port, world.site)
    assert collector.once(world.memory) == 0
