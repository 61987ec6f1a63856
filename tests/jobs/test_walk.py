"""The whole way of a job on an embedded site: submitted, trained, logged, resumed."""

from pathlib import Path

from django.utils import timezone

from jobs import reads
from jobs.models import JobEvent
from jobs.services import control, curves, logs
from tests.support.training import World, loss_by_step


def test_two_replicas_train_and_everything_is_kept(world: World) -> None:
    job = world.ended(world.submit(world.training("--steps", "20", "--checkpoint-every", "10")))
    assert job.status == "succeeded", reads.shown([reads.job(world.organisation, job.pk)], now=timezone.now())
    run = job.runs.get()
    assert (run.exit_code, run.holds, world.used()) == (0, False, 0)
    assert abs(run.gpu_seconds - (run.finished_at - run.started_at).total_seconds() * 2) <= 2
    assert sorted(job.checkpoints.values_list("step", "complete", "layout")) == [
        (10, True, "berth"),
        (20, True, "berth"),
    ]
    assert list(loss_by_step(job, run)) == list(range(1, 21))
    assert (job.step, job.total_steps) == (20, 20)
    whole = logs.read(run, after=None, limit=1000)
    assert whole.complete
    assert [line.text for line in whole.lines if line.replica == "worker-0"][-1] == "done after step 20"
    assert [line.n for line in whole.lines if line.replica == "master-0"] == list(
        range(1, run.streams.get(replica="master-0").lines + 1)
    )
    assert [line.text for line in logs.tail(run, 3, replica="master-0").lines] == [
        line.text for line in whole.lines if line.replica == "master-0"
    ][-3:]
    kinds = list(JobEvent.objects.filter(job=job).order_by("pk").values_list("kind", flat=True))
    assert kinds == ["submitted", "admitted", "launched", "running", "succeeded"]
    namespace = world.cluster.object_name
    world.until(lambda: not any(name.startswith("run-") for _, name in world.port.list_objects(namespace)))


def test_a_resumed_job_continues_its_loss_curve(world: World) -> None:
    job = world.ended(world.submit(world.training("--steps", "30", "--checkpoint-every", "10")))
    whole = loss_by_step(job, job.runs.get())
    chosen = job.checkpoints.get(step=10)
    control.resume(access=world.access, job_id=job.pk, checkpoint_id=chosen.pk, now=timezone.now())
    job = world.ended(job)
    second = job.runs.get(number=2)
    assert (job.status, second.resume_from) == ("succeeded", chosen)
    again = loss_by_step(job, second)
    assert list(again) == list(range(11, 31))
    # It went on from a link in its own folder, which is no checkpoint of its own.
    folder = world.port.claim_folder(world.cluster.object_name, "checkpoints") / second.pk
    assert (folder / "step-10").readlink() == Path("..") / chosen.run_id / "step-10"
    assert sorted(second.checkpoints.values_list("step", flat=True)) == [20, 30]
    assert again == {step: value for step, value in whole.items() if step > 10}
    assert [step for step, _, _ in curves.read(job)["loss"]] == list(range(1, 31))
