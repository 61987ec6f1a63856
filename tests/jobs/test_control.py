"""Cancel, suspend and resume, retries by failure class, time limit, and the end of the cluster."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Notification
from clusters.models import Cluster, Node
from core import errors
from jobs import words
from jobs.models import Job, JobEvent, LogStream, Run
from jobs.services import control, due, logs, observe, places
from tests.support.training import World, loss_by_step

FOREVER = "import time; print('up', flush=True); time.sleep(600)"


def running(world: World, code: str = FOREVER, **fields: Any) -> Job:
    """Return a job all of whose replicas run."""
    job = world.submit(code=code, **fields)
    world.until(lambda: world.status(job) == "running")
    return job


def kinds(job: Job) -> list[str]:
    return list(JobEvent.objects.filter(job=job).order_by("pk").values_list("kind", flat=True))


def test_a_running_job_is_cancelled_when_its_pods_are_gone(world: World) -> None:
    job = running(world, replicas=2)
    assert world.used() == 2
    shown = control.cancel(access=world.access, job_id=job.pk, now=timezone.now())
    assert shown.status == "running"  # still there, still holding GPUs: not called cancelled before it is
    assert world.used() == 2
    world.ended(job)
    run = job.runs.get()
    assert (job.status, run.status, world.used()) == ("cancelled", "cancelled", 0)
    assert kinds(job)[-2:] == ["cancel_asked", "cancelled"]
    with pytest.raises(errors.InvalidState):
        control.cancel(access=world.access, job_id=job.pk, now=timezone.now())


def test_suspend_and_resume_continue_the_loss_curve(world: World) -> None:
    whole = world.ended(world.submit(world.training("--steps", "40")))
    expected = loss_by_step(whole, whole.runs.get())
    job = world.submit(world.slow_until_resumed("--steps", "40"))
    world.until(lambda: world.status(job) == "running" and (job.step or 0) >= 5)
    control.suspend(access=world.access, job_id=job.pk, now=timezone.now())
    world.ended(job)
    first = job.runs.get()
    assert (job.status, world.used()) == ("suspended", 0)
    assert f"asked to stop, stopped after step {max(loss_by_step(job, first))}" in [
        line.text for line in logs.tail(first, 2, replica="master-0").lines
    ]
    stopped = max(loss_by_step(job, first))
    assert 5 <= stopped < 40
    control.resume(access=world.access, job_id=job.pk, now=timezone.now())
    world.ended(job)
    second = job.runs.get(number=2)
    assert (job.status, second.resume_from and second.resume_from.step) == ("succeeded", stopped)
    curve = {**loss_by_step(job, first), **loss_by_step(job, second)}
    assert list(loss_by_step(job, second)) == list(range(stopped + 1, 41))
    assert curve == expected


@pytest.mark.parametrize(
    ("code", "exit_code"),
    [
        (FOREVER, 143),
        ("import signal, sys\nsignal.signal(15, lambda *_: sys.exit(7))\n" + FOREVER, 7),
    ],
)
def test_a_run_that_is_stopped_says_how_its_program_ended(world: World, code: str, exit_code: int) -> None:
    job = running(world, code=code, replicas=2)
    world.until(lambda: LogStream.objects.filter(run__job=job, replica="master-0", lines__gt=0).exists())
    control.suspend(access=world.access, job_id=job.pk, now=timezone.now())
    world.ended(job)
    run = job.runs.get()
    assert (run.status, run.exit_code, run.why["code"]) == ("suspended", exit_code, "suspended")


def test_a_cancelled_suspension_is_final(world: World) -> None:
    job = world.submit()
    control.suspend(access=world.access, job_id=job.pk, now=timezone.now())
    job = control.cancel(access=world.access, job_id=job.pk, now=timezone.now())
    assert (job.status, [run.status for run in job.runs.all()]) == ("cancelled", ["suspended"])


def test_a_failing_program_is_tried_again_as_often_as_asked(world: World) -> None:
    job = world.submit(code="print('no'); raise SystemExit(3)", max_retries=1)
    world.until(lambda: job.runs.count() == 2)
    second = job.runs.get(number=2)
    assert (second.status, world.status(job)) == ("queued", "queued")
    assert second.not_before is not None
    assert second.not_before > timezone.now()
    Run.objects.filter(pk=second.pk).update(not_before=None, due_at=timezone.now())
    world.ended(job)
    assert [(run.status, run.exit_code, run.failure_class) for run in job.runs.order_by("number")] == [
        ("failed", 3, "user"),
        ("failed", 3, "user"),
    ]
    assert job.status == "failed"
    assert kinds(job)[-2:] == ["failed", "not_retried"]
    notice = Notification.objects.get(kind="job.failed")
    assert (notice.params["name"], notice.organisation) == (job.name, world.organisation)


def test_one_dead_replica_restarts_the_gang_from_its_checkpoint(world: World) -> None:
    spec = world.slow_until_resumed("--steps", "40", "--checkpoint-every", "2", max_retries=1)
    job = world.submit(spec)
    world.until(lambda: job.checkpoints.filter(step=4, complete=True).exists())
    worker = next(
        live for live in world.supervisor.kubelet.live.values() if "worker-0" in live.pod["metadata"]["name"]
    )
    world.kill(worker)
    world.until(lambda: job.runs.count() == 2)
    first, second = job.runs.order_by("number")
    assert first.status == "failed"
    assert second.resume_from is not None
    assert second.resume_from.step >= 4
    Run.objects.filter(pk=second.pk).update(not_before=None, due_at=timezone.now())
    world.ended(job)
    assert (job.status, world.used()) == ("succeeded", 0)
    assert min(loss_by_step(job, job.runs.get(number=2))) == second.resume_from.step + 1


def test_a_command_that_does_not_exist_is_never_tried_again(world: World) -> None:
    job = world.submit({**world.spec(), "command": ["no-such-program"], "max_retries": 5})
    world.ended(job)
    assert (job.status, job.runs.get().failure_class) == ("failed", "configuration")


@pytest.mark.parametrize(
    ("state", "failure"), [("available", "user"), ("suspect", "user"), ("failed", "infrastructure")]
)
def test_a_failure_on_a_broken_node_is_not_the_programs(
    world: World, tmp_path: Path, state: str, failure: str
) -> None:
    go = tmp_path / "go"
    job = running(world, code=f"import os\nwhile not os.path.exists({str(go)!r}): pass\nexit(3)")
    run = job.runs.get()
    Node.objects.filter(name=run.placement[0][0]).update(state=state)
    go.touch()
    world.until(lambda: job.runs.get(number=1).status == "failed")
    assert job.runs.get(number=1).failure_class == failure
    assert job.runs.count() == (2 if failure == "infrastructure" else 1)


def test_a_run_whose_checkpoint_is_gone_says_so_and_is_not_tried_again(world: World) -> None:
    save = (
        "import os, pathlib\n"
        "folder = pathlib.Path(os.environ['CHECKPOINT_DIR'], 'step-1')\n"
        "folder.mkdir(parents=True)\n"
        "for name in ('weights', 'DONE'): (folder / name).write_text('{}')\n"
    )
    job = world.ended(world.submit(code=save, max_retries=3))
    control.resume(access=world.access, job_id=job.pk, now=timezone.now())
    volume = places.volume(world.cluster, "checkpoints")
    assert volume is not None
    volume.delete(f"{job.runs.get(number=1).pk}/step-1")
    world.ended(job)
    run = job.runs.get(number=2)
    assert (job.status, run.why["code"], run.failure_class) == ("failed", "checkpoint_gone", "configuration")
    assert "the checkpoint step-1 is not there any more" in words.say(run.why)


def test_the_time_limit_ends_a_run(world: World) -> None:
    job = running(world, max_runtime_seconds=1, max_retries=3)
    world.until(lambda: world.status(job) == "failed")
    run = job.runs.get()
    assert (run.stop, run.why["code"], kinds(job)[-2:]) == ("deadline", "time_limit", ["deadline", "failed"])
    assert (run.finished_at - run.started_at) >= timedelta(seconds=1)


def test_a_cluster_that_ends_stops_what_runs_and_empties_its_queue(world: World) -> None:
    job = running(world, replicas=2, gpus_per_replica=2)
    waiting = world.submit(replicas=2)
    Cluster.objects.filter(pk=world.cluster.pk).update(status="draining", due_at=timezone.now())
    due.drain(world.cluster.pk, now=timezone.now())
    assert world.status(waiting) == "cancelled"
    assert waiting.why["code"] == "cluster_over"
    world.ended(job)
    assert (job.status, job.why["code"], world.used()) == ("cancelled", "cluster_ended", 0)
    with pytest.raises(errors.InvalidState):
        control.resume(access=world.access, job_id=job.pk, now=timezone.now())


def test_a_gang_waits_until_all_of_it_fits(world: World) -> None:
    first = running(world, replicas=3)
    second = world.submit(replicas=2)
    small = world.submit(replicas=1)
    for _ in range(10):
        world.tick()
    assert (world.status(second), world.status(small), world.used()) == ("queued", "queued", 3)
    control.cancel(access=world.access, job_id=first.pk, now=timezone.now())
    world.until(lambda: world.status(second) == "succeeded" and world.status(small) == "succeeded")


def test_late_and_repeated_news_change_nothing(world: World) -> None:
    job = running(world)
    run = Run.objects.select_related("job", "cluster__site").get(job=job)
    early = world.port.list_pytorchjobs()[0][0]
    control.cancel(access=world.access, job_id=job.pk, now=timezone.now())
    world.ended(job)
    before = (Run.objects.values().get(pk=run.pk), kinds(job))
    assert observe.look(world.port, run, early, now=timezone.now()) == "cancelled"
    assert observe.look(world.port, run, None, now=timezone.now()) == "cancelled"
    assert (Run.objects.values().get(pk=run.pk), kinds(job)) == before


def test_a_log_is_complete_to_its_last_line(world: World) -> None:
    code = "for n in range(5000): print(f'line {n} é中')\nimport sys; sys.stdout.write('no end of line')"
    job = world.ended(world.submit(code=code))
    run = job.runs.get()
    cursor, seen = None, []
    while True:
        chunk = logs.read(run, after=cursor, limit=700)
        seen += chunk.lines
        cursor = chunk.after
        if chunk.complete:
            break
    assert [line.text for line in seen] == [*(f"line {n} é中" for n in range(5000)), "no end of line"]
    assert [line.n for line in seen] == list(range(1, 5002))
    assert logs.tail(run, 2).lines == seen[-2:]
