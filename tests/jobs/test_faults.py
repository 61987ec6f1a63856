"""A fault between any two steps of training, once: the beat brings every job to the same end."""

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from jobs.models import Job, JobEvent, Run
from jobs.services import checkpoints, collect, control, ending, hours, launch, logs, queue, timeline
from k8s.embedded.port import EmbeddedPort
from tests.support import wait
from tests.support.training import World, loss_by_step

pytestmark = [pytest.mark.django_db, pytest.mark.faults]


class Killed(Exception):
    """Stands for the end of a process: nobody handles it."""


POINTS: list[tuple[Any, str, bool]] = [
    # whose function, its name, and whether the fault comes after its work instead of before
    (timeline, "record", False),
    (timeline, "record", True),
    (queue, "count_gpus", False),
    (queue, "count_gpus", True),
    (queue, "release", False),
    (queue, "release", True),
    (EmbeddedPort, "apply", False),
    (EmbeddedPort, "apply", True),
    (EmbeddedPort, "delete", False),
    (EmbeddedPort, "delete", True),
    (EmbeddedPort, "list_pods", False),
    (EmbeddedPort, "read_log", False),
    (launch, "_record", False),
    (launch, "_record", True),
    (ending, "finish", False),
    (ending, "finish", True),
    (hours, "write", True),
    (checkpoints, "scan", True),
    (collect, "_store_points", True),
    (collect, "_complete", False),
]


def fail_once(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, after: bool, call: int) -> list[int]:
    """Let the n-th call of a function be a fault; return the list that counts the calls."""
    real: Callable[..., Any] = getattr(owner, name)
    calls: list[int] = []

    def fault(*args: Any, **options: Any) -> Any:
        calls.append(1)
        if len(calls) == call and not after:
            raise Killed(name)
        result = real(*args, **options)
        if len(calls) == call:
            raise Killed(name)
        return result

    monkeypatch.setattr(owner, name, fault)
    return calls


def settle(world: World, job: Job) -> None:
    """Tick until all is at rest; after a fault, claims of the dead run out and the beat looks again."""

    def at_rest() -> bool:
        try:
            world.tick()
        except Killed:
            world.memory = collect.Memory()
            Run.objects.exclude(claim_token="").update(claim_until=timezone.now())
            Run.objects.filter(due_at__isnull=False).update(due_at=timezone.now())
        job.refresh_from_db()
        names = [name for _, name in world.port.list_objects(world.cluster.object_name)]
        return (
            job.status in ("succeeded", "suspended", "failed")
            and not Run.objects.filter(due_at__isnull=False).exists()
            and not any(name.startswith("run-") for name in names)
        )

    wait.until(at_rest, 60)


@pytest.mark.parametrize("call", [1, 2])
@pytest.mark.parametrize(("owner", "name", "after"), POINTS)
def test_a_fault_only_delays(
    world: World, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, after: bool, call: int
) -> None:
    job = world.submit(world.training("--steps", "6", "--checkpoint-every", "3"))
    calls = fail_once(monkeypatch, owner, name, after, call)
    settle(world, job)
    assert calls
    run = job.runs.get()
    kinds = list(JobEvent.objects.filter(job=job).order_by("pk").values_list("kind", flat=True))
    assert (job.status, run.status, run.holds, run.collected, world.used()) == (
        "succeeded",
        "succeeded",
        False,
        True,
        0,
    )
    # Each thing is told once; the watcher may see the object before its launch or its start is recorded.
    told = [kind for kind in kinds if kind not in ("launched", "running")]
    assert told == ["submitted", "admitted", "succeeded"]
    assert len(kinds) == len(set(kinds))
    assert list(loss_by_step(job, run)) == list(range(1, 7))
    assert sorted(job.checkpoints.filter(complete=True).values_list("step", flat=True)) == [3, 6]
    whole = logs.read(run, after=None, limit=1000)
    assert whole.complete
    assert [line.text for line in whole.lines].count("done after step 6") == 2
    assert sum(run.hours.values_list("gpu_seconds", flat=True)) == run.gpu_seconds


@pytest.mark.parametrize(("owner", "name", "after"), [point for point in POINTS if point[0] is not hours])
def test_a_fault_while_suspending_only_delays(
    world: World, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, after: bool
) -> None:
    job = world.submit(world.training("--steps", "5000", "--step-time", "0.02"))
    world.until(lambda: (world.status(job), bool(job.step)) == ("running", True))
    control.suspend(access=world.access, job_id=job.pk, now=timezone.now())
    fail_once(monkeypatch, owner, name, after, 1)
    settle(world, job)
    run = job.runs.get()
    assert (job.status, run.status, run.holds, run.collected, world.used()) == (
        "suspended",
        "suspended",
        False,
        True,
        0,
    )
    assert job.checkpoints.filter(complete=True).count() >= 1
