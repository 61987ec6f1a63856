"""Killed between any two steps of training and of coming back, the end is as if nothing had happened."""

import contextlib
from typing import Any

import pytest
from django.utils import timezone

from accounts.services import audit
from core import claims, rows
from jobs.services import (
    checkpoints,
    collect,
    control,
    ending,
    hours,
    launch,
    observe,
    plans,
    queue,
    settle,
    submit,
    telling,
    timeline,
)
from jobs.storage.local_store import LocalStore
from k8s.embedded.port import EmbeddedPort
from tests.support import steps
from tests.support.training import World

pytestmark = [pytest.mark.django_db, pytest.mark.faults]
STEPS: list[tuple[Any, str]] = [
    (submit, "_store"),
    (submit, "new_run"),
    (audit, "entry"),
    (rows, "insert"),
    (timeline, "record"),
    (queue, "admit"),
    (queue, "_start"),
    (queue, "count_gpus"),
    (claims, "take"),
    (plans, "of_run"),
    (EmbeddedPort, "apply"),
    (launch, "_record"),
    (EmbeddedPort, "list_pytorchjobs"),
    (EmbeddedPort, "list_pods"),
    (observe, "apply"),
    (observe, "_move"),
    (hours, "write"),
    (ending, "finish"),
    (ending, "_follow"),
    (ending, "continue_from"),
    (ending, "_end_job"),
    (telling, "job_ended"),
    (checkpoints, "scan"),
    (checkpoints, "_recognise"),
    (collect, "_begin"),
    (EmbeddedPort, "read_log"),
    (LocalStore, "write"),
    (collect, "_store"),
    (collect, "_store_points"),
    (collect, "_finish"),
    (collect, "_complete"),
    (settle, "settle"),
    (queue, "release"),
    (EmbeddedPort, "delete"),
    (claims, "give_back"),
]
BY_HAND: list[tuple[Any, str]] = [
    (control, "_chosen"),
    (submit, "new_run"),
    (timeline, "record"),
    (control, "_audit"),
    (audit, "record"),
]
EXPECTED = {
    "job": ("succeeded", 4),
    "runs": [(1, "submit", "failed", 1, "user"), (2, "retry", "succeeded", 0, "")],
    "from": [None, 2],
    "objects": [(1, 1), (1, 1)],
    "left": [],
    "logs": [steps.LOST, steps.FOUND],
    "losses": [[1, 2, 3], [3, 4]],
    "checkpoints": [(1, 2, True), (2, 4, True)],
    "hours": [True, True],
    "gpus": 0,
    "events": sorted(
        [
            (1, "submitted"),
            (1, "admitted"),
            (1, "launched"),
            (1, "failed"),
            (2, "retry"),
            (2, "admitted"),
            (2, "launched"),
            (2, "succeeded"),
        ]
    ),
    "audit": 1,
    "told": ["job.succeeded"],
}


def test_undisturbed(world: World) -> None:
    """What all others are compared with."""
    player = steps.Player(world)
    job = player.submit()
    player.rest(job)
    assert steps.outcome(world, job) == EXPECTED


@pytest.mark.parametrize(("owner", "name"), STEPS, ids=[f"{o.__name__}.{name}" for o, name in STEPS])
def test_training_survives(world: World, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> None:
    player = steps.Player(world)
    seen = steps.kill_at(monkeypatch, owner, name)
    job = player.submit()
    player.rest(job)
    assert seen["before"], f"{name} was never reached"
    assert seen["after"], f"{name} was not tried again"
    assert steps.outcome(world, job) == EXPECTED


@pytest.mark.parametrize(("owner", "name"), BY_HAND, ids=[f"{o.__name__}.{name}" for o, name in BY_HAND])
def test_coming_back_by_hand_survives(
    world: World, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str
) -> None:
    player = steps.Player(world)
    job = player.submit()
    player.rest(job)
    chosen = job.checkpoints.get(step=2)
    seen = steps.kill_at(monkeypatch, owner, name)

    def click() -> None:
        control.resume(
            access=world.access,
            job_id=job.pk,
            checkpoint_id=chosen.pk,
            idempotency_key="click",
            now=timezone.now(),
        )

    for _again in range(4):
        with contextlib.suppress(steps.Killed):
            click()
    player.rest(job)
    click()  # the answer was lost, and the run has ended before the repeat
    assert seen["before"], f"{name} was never reached"
    end = steps.outcome(world, job)
    assert end["runs"] == [*EXPECTED["runs"], (3, "resume", "succeeded", 0, "")]
    assert (end["job"], end["from"], end["objects"]) == (("succeeded", 4), [None, 2, 2], [(1, 1)] * 3)
    assert end["logs"] == [steps.LOST, steps.FOUND, steps.FOUND]
    assert [run for run, kind in end["events"] if kind == "resumed"] == [3]
    assert (end["audit"], end["left"], end["gpus"]) == (2, [], 0)
