"""What one customer's job leaves behind never stops the portal for the others."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.db import DataError, OperationalError
from django.utils import timezone

from jobs import shapes
from jobs.models import Checkpoint, Job, Run
from jobs.services import checkpoints, collect, observe
from tests.support.training import World

WRITE = """
import os
def checkpoint(step, done):
    folder = f"{os.environ['CHECKPOINT_DIR']}/step-{step}"
    os.makedirs(folder)
    open(folder + "/weights.npz", "w").write("x")
    open(folder + "/DONE", "w").write(done)
    return folder
"""


def test_names_that_nothing_can_store_are_left_out_of_a_checkpoint(world: World) -> None:
    done = [json.dumps({"a\0b": 1, "loss": 2.5}), json.dumps({"\ud800": 1})]
    code = WRITE + f"for step, done in enumerate({done!r}): checkpoint(step, done)"
    job = world.ended(world.submit(code=code))
    assert job.status == "succeeded"
    found = Checkpoint.objects.filter(job=job).order_by("step")
    assert [row.metric for row in found] == [{"name": "loss", "value": 2.5}, None]


def test_odd_times_and_sizes_of_files_are_registered(world: World) -> None:
    code = WRITE + (
        "folder = checkpoint(1, '{}')\n"
        "os.utime(folder + '/DONE', (1e17, 1e17))\n"
        "os.utime(folder + '/weights.npz', (-1e10, -1e10))\n"
    )
    job = world.ended(world.submit(code=code))
    assert Checkpoint.objects.get(job=job).complete


@pytest.mark.parametrize("fault", [DataError("too odd"), ValueError("odd"), RecursionError("deep")])
def test_a_run_that_breaks_the_collector_does_not_stop_others(
    world: World, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    bad = world.submit(code="print('bad')")
    real = collect.collect

    def break_on_one(run: Run, **told: Any) -> bool:
        if run.job_id == bad.pk:
            raise fault
        return real(run, **told)

    monkeypatch.setattr(collect, "collect", break_on_one)
    good = world.submit(code="print('good')")
    world.ended(good)
    assert not bad.runs.get().collected


def test_a_run_that_breaks_the_watch_does_not_stop_others(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = world.submit(code="print('bad')")
    real = observe.look

    def break_on_one(port: Any, run: Run, *told: Any, **more: Any) -> str:
        if run.job_id == bad.pk:
            raise ValueError("odd")
        return real(port, run, *told, **more)

    monkeypatch.setattr(observe, "look", break_on_one)
    assert world.ended(world.submit(code="print('good')")).status == "succeeded"
    assert world.status(bad) not in ("succeeded", "failed")


def test_a_database_that_is_away_ends_the_pass(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.submit()

    def away(run: Run, **told: Any) -> bool:
        raise OperationalError("away")

    monkeypatch.setattr(collect, "collect", away)
    with pytest.raises(OperationalError):
        world.until(lambda: False)


def test_a_folder_of_checkpoints_that_cannot_be_read_ends_in_time(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(run: Run, **told: Any) -> int:
        raise DataError("too odd")

    monkeypatch.setattr(checkpoints, "scan", broken)
    job = world.submit(code="print('hello')")
    world.until(lambda: world.status(job) == "succeeded")
    run = job.runs.get()
    assert not run.collected
    Run.objects.filter(pk=run.pk).update(finished_at=timezone.now() - collect.GIVE_UP - timedelta(seconds=1))
    world.until(lambda: job.runs.filter(collected=True).exists())


def test_a_log_that_promises_endless_steps_has_no_eta() -> None:
    now = timezone.now()
    job = Job(step=1, total_steps=4 * 10**18)
    run = Run(status="running", started_at=now - timedelta(seconds=30))
    shown = shapes.progress(job, run, now=now)
    assert (shown["step"], shown["eta"]) == (1, None)
