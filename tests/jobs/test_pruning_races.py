"""A resume and a removal of the same checkpoint at once: the resume that comes first wins, with a control."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from core import errors
from jobs.models import Checkpoint, Job
from jobs.services import checkpoints, control, pruning
from tests.jobs.test_pruning import saved
from tests.jobs.test_races import together
from tests.support.training import World

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(places: Path, transactional_db: None) -> Iterator[World]:
    made = World(places)
    yield made
    made.close()


def overtaken(world: World, monkeypatch: pytest.MonkeyPatch) -> tuple[Job, Checkpoint]:
    """Let a removal come between a resume's look at its checkpoint and the writing of its run."""
    job = saved(world, 3, keep=3)
    job.spec["checkpoints"]["keep_last"] = 1
    job.save(update_fields=["spec"])
    run = job.runs.select_related("job", "cluster__site").get()
    wanted = job.checkpoints.get(step=1)
    looked, done = threading.Event(), threading.Event()
    real = control._chosen

    def chosen(*told: Any) -> Checkpoint:
        found = real(*told)
        looked.set()
        done.wait(1.5)  # with the lock the removal cannot be done before us
        return found

    def resume() -> None:
        control.resume(access=world.access, job_id=job.pk, checkpoint_id=wanted.pk, now=timezone.now())

    def remove() -> None:
        assert looked.wait(10)
        pruning.choose(run, seen=checkpoints.Scan(), now=timezone.now())
        pruning.remove(job.pk, now=timezone.now())
        done.set()

    monkeypatch.setattr(control, "_chosen", chosen)
    together(resume, remove)
    wanted.refresh_from_db()
    assert job.runs.get(number=2).resume_from_id == wanted.pk
    return job, wanted


def test_a_checkpoint_that_is_being_chosen_stays(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    job, wanted = overtaken(world, monkeypatch)
    assert wanted.is_there
    assert not job.checkpoints.get(step=2).is_there
    assert world.ended(job).status == "succeeded"


def test_without_the_lock_the_same_resume_loses_its_start(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: it shows the race that the lock closes."""
    monkeypatch.setattr(pruning, "lock", lambda job_id: Job.objects.get(pk=job_id))
    _, wanted = overtaken(world, monkeypatch)
    assert wanted.gone_at is not None


def test_many_removals_at_once_are_one(world: World) -> None:
    job = saved(world, 6, keep=6)
    job.spec["checkpoints"]["keep_last"] = 1
    job.save(update_fields=["spec"])
    run = job.runs.select_related("job", "cluster__site").get()
    now = timezone.now()
    marks = together(*[lambda: pruning.choose(run, seen=checkpoints.Scan(), now=now)] * 6)
    assert sum(marks) == 5
    gone = together(*[lambda: pruning.remove(job.pk, now=now)] * 6)
    assert sum(gone) == 5
    assert job.events.filter(kind="checkpoints_removed").count() == 1
    first = job.checkpoints.get(step=1)
    with pytest.raises(errors.Invalid):
        control.resume(access=world.access, job_id=job.pk, checkpoint_id=first.pk, now=now)
