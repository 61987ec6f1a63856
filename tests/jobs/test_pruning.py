"""Jobs that keep their last checkpoints: what goes, what stays, and removals that were cut off."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from core import claims, errors
from jobs.models import Checkpoint, Job, JobEvent, Run
from jobs.services import checkpoints, control, due, pruning, timeline
from jobs.storage import StorageError
from jobs.storage.local_store import LocalStore
from tests.support import people
from tests.support.training import World

SAVE = """
import os, pathlib
came_from = os.environ["RESUME_FROM"]
start = int(came_from.rpartition("-")[2]) if came_from else 0
for step in range(start + 1, start + {count} + 1):
    folder = pathlib.Path(os.environ["CHECKPOINT_DIR"], f"step-{{step}}")
    folder.mkdir(parents=True)
    (folder / "weights").write_text("w")
    (folder / "DONE").write_text("{{}}")
raise SystemExit({code})
"""


def saved(world: World, count: int, *, keep: int | None = None, code: int = 0, **fields: Any) -> Job:
    """Return an ended job that saved so many checkpoints."""
    kept = {"keep_last": keep} if keep else {}
    text = SAVE.format(count=count, code=code)
    return world.ended(world.submit(code=text, checkpoints=kept, **fields))


def there(job: Job) -> list[tuple[int, int]]:
    rows = job.checkpoints.filter(Checkpoint.there()).order_by("run__number", "step")
    return list(rows.values_list("run__number", "step"))


def folders(world: World, run: Run) -> list[str]:
    """Return what lies in the folder of a run, links left out."""
    root = world.supervisor.settings.folder / "claims" / run.cluster.object_name / "checkpoints" / run.pk
    return sorted(path.name for path in root.iterdir() if not path.is_symlink())


def settled(world: World, job: Job) -> None:
    world.until(lambda: not job.checkpoints.filter(removal_at__isnull=False, gone_at=None).exists())


def test_the_last_ones_stay(world: World) -> None:
    job = saved(world, 5, keep=2)
    settled(world, job)
    run = job.runs.get()
    assert there(job) == [(1, 4), (1, 5)]
    assert folders(world, run) == ["step-4", "step-5"]
    said = [row.values["steps"] for row in JobEvent.objects.filter(job=job, kind="checkpoints_removed")]
    assert ", ".join(said) == "1, 2, 3"
    shown = people.api(world.owner).get(f"/api/v1/jobs/{job.pk}/checkpoints").json()["items"]
    assert sorted(item["step"] for item in shown) == [4, 5]
    told = people.api(world.owner).get(f"/api/v1/jobs/{job.pk}/events").json()["items"]
    assert any("the job keeps its last 2" in item["message"] for item in told)


def test_without_keep_last_all_stay(world: World) -> None:
    job = saved(world, 4)
    assert there(job) == [(1, 1), (1, 2), (1, 3), (1, 4)]
    assert pruning.waiting(now=timezone.now()) == []


def test_a_removed_checkpoint_is_no_start(world: World) -> None:
    job = saved(world, 3, keep=1)
    settled(world, job)
    gone = job.checkpoints.get(step=1)
    with pytest.raises(errors.Invalid, match="step 1 was removed: the job keeps its last 1") as caught:
        control.resume(access=world.access, job_id=job.pk, checkpoint_id=gone.pk, now=timezone.now())
    assert [(fault.field, fault.code) for fault in caught.value.errors] == [("checkpoint", "removed")]
    answer = people.api(world.owner).post(f"/api/v1/jobs/{job.pk}/resume", {"checkpoint": gone.pk})
    assert (answer.status_code, answer.json()["errors"][0]["code"]) == (422, "removed")


def test_what_an_open_job_started_from_stays_until_it_ends(world: World) -> None:
    job = saved(world, 3, keep=3)
    first = job.checkpoints.get(step=1)
    Job.objects.filter(pk=job.pk).update(spec=job.spec | {"checkpoints": {"keep_last": 1}})
    control.resume(access=world.access, job_id=job.pk, checkpoint_id=first.pk, now=timezone.now())
    run = job.runs.select_related("job", "cluster__site").get(number=1)
    pruning.choose(run, seen=checkpoints.Scan(), now=timezone.now())
    world.tick(watch=False)
    assert there(job) == [(1, 1), (1, 3)]
    job.refresh_from_db()
    world.ended(job)
    settled(world, job)
    assert (job.status, there(job)) == ("succeeded", [(2, 4)])


def test_where_an_ended_job_would_go_on_stays(world: World) -> None:
    """The second run saved nothing: a resume without a choice starts where that run did."""
    job = saved(world, 4, keep=4)
    Job.objects.filter(pk=job.pk).update(spec=job.spec | {"checkpoints": {"keep_last": 1}})
    chosen = job.checkpoints.get(step=2)
    control.resume(access=world.access, job_id=job.pk, checkpoint_id=chosen.pk, now=timezone.now())
    control.cancel(access=world.access, job_id=job.pk, now=timezone.now())
    run = job.runs.select_related("job", "cluster__site").get(number=1)
    pruning.choose(run, seen=checkpoints.Scan(), now=timezone.now())
    assert there(job) == [(1, 2), (1, 4)]


def test_what_may_still_be_written_stays(world: World) -> None:
    job = saved(world, 3, keep=3)
    job.spec["checkpoints"]["keep_last"] = 1
    job.save(update_fields=["spec"])
    run = job.runs.select_related("job", "cluster__site").get()
    run.status = "running"
    now = timezone.now()
    seen = checkpoints.scan(run, now=now)
    assert seen.fresh == {"step-1", "step-2", "step-3"}
    assert pruning.choose(run, seen=seen, now=now) == 0
    later = now + checkpoints.QUIET + timedelta(seconds=1)
    seen = checkpoints.scan(run, now=later)
    assert seen.fresh == frozenset()
    assert pruning.choose(run, seen=seen, now=later) == 2


def marked(world: World) -> tuple[Job, Run]:
    """Return a job with two checkpoints that are chosen and not yet deleted."""
    job = saved(world, 3, keep=3)
    job.spec["checkpoints"]["keep_last"] = 1
    job.save(update_fields=["spec"])
    run = job.runs.select_related("job", "cluster__site", "resume_from").get()
    assert pruning.choose(run, seen=checkpoints.Scan(), now=timezone.now()) == 2
    return job, run


@pytest.mark.parametrize(
    ("owner", "step", "after", "left"),
    [
        (claims, "take", True, ["step-1", "step-2", "step-3"]),
        (pruning, "_delete", False, ["step-1", "step-2", "step-3"]),
        (pruning, "_delete", True, ["step-2", "step-3"]),
        (LocalStore, "delete", True, ["step-2", "step-3"]),
        (pruning, "_record", False, ["step-3"]),
        (timeline, "record", False, ["step-3"]),
        (timeline, "record", True, ["step-3"]),
    ],
)
def test_a_removal_that_was_cut_off_is_done_again(
    world: World, monkeypatch: pytest.MonkeyPatch, owner: Any, step: str, after: bool, left: list[str]
) -> None:
    job, run = marked(world)
    now = timezone.now()
    real = getattr(owner, step)

    class Killed(BaseException):
        pass

    def killed(*told: Any, **more: Any) -> Any:
        if after:
            real(*told, **more)
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(owner, step, killed)
        with pytest.raises(Killed):
            pruning.remove(job.pk, now=now)
    assert folders(world, run) == left
    checkpoints.scan(run, now=now)  # neither lost nor back: it is still being removed
    assert job.checkpoints.filter(removal_at__isnull=False, gone_at=None).count() == 2
    assert pruning.waiting(now=now) == []  # as long as the claim of the dead one holds
    later = now + timedelta(seconds=pruning.CLAIM_SECONDS + 1)
    assert pruning.waiting(now=later) == [job.pk]
    assert pruning.remove(job.pk, now=later) == 2
    assert pruning.remove(job.pk, now=later) == 0
    assert (there(job), folders(world, run)) == ([(1, 3)], ["step-3"])
    assert JobEvent.objects.filter(job=job, kind="checkpoints_removed").count() == 1


def test_a_store_that_does_not_do_it_is_asked_again_later(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, run = marked(world)
    now = timezone.now()

    def away(*_: Any) -> int:
        raise StorageError("away", retryable=True)

    with monkeypatch.context() as patch:
        patch.setattr(LocalStore, "delete", away)
        assert pruning.remove(job.pk, now=now) == 0
    assert folders(world, run) == ["step-1", "step-2", "step-3"]
    assert there(job) == [(1, 3)]
    assert pruning.remove(job.pk, now=now) == 0
    assert pruning.remove(job.pk, now=now + timedelta(seconds=pruning.CLAIM_SECONDS + 1)) == 2


def test_an_old_listing_brings_nothing_back(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files are listed, then removed, and only then does the listing reach the rows."""
    job, run = marked(world)
    now = timezone.now()
    real = checkpoints._recognise

    def slow(*told: Any) -> Any:
        found = real(*told)
        assert pruning.remove(job.pk, now=now) == 2
        return found

    monkeypatch.setattr(checkpoints, "_recognise", slow)
    checkpoints.scan(run, now=now)
    assert there(job) == [(1, 3)]


def test_a_checkpoint_that_is_written_again_is_offered_again(world: World) -> None:
    job, run = marked(world)
    now = timezone.now()
    pruning.remove(job.pk, now=now)
    root: Path = world.supervisor.settings.folder / "claims" / run.cluster.object_name / "checkpoints"
    (root / run.pk / "step-1").mkdir()
    for name in ("weights", "DONE"):
        (root / run.pk / "step-1" / name).write_text("{}")
    checkpoints.scan(run, now=now)
    assert there(job) == [(1, 1), (1, 3)]


def test_the_beat_finds_what_is_to_be_removed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    job, _ = marked(world)
    sent: list[tuple[str, str]] = []
    monkeypatch.setattr(
        "jobs.services.due.dispatch.after_commit", lambda task, *args: sent.append((task, *args))
    )
    due.process(now=timezone.now())
    assert ("jobs.prune", job.pk) in sent
