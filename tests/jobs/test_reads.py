"""Lists cost the same number of queries for one job and for twenty, and say why each one waits."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from jobs import reads
from jobs.models import Run
from jobs.services import queue
from tests.support import people
from tests.support.training import World


def queries(call: object) -> int:
    with CaptureQueriesContext(
        connection,
    ) as seen:
        call()  # type: ignore[operator]
    return len(seen)


def test_a_list_asks_the_same_for_one_and_for_twenty(world: World) -> None:
    api = people.api(world.owner)
    world.submit(replicas=2, gpus_per_replica=2)
    queue.admit(world.cluster.pk, now=timezone.now())
    world.submit()
    api.get("/api/v1/jobs")  # what is read once per process is read
    few = queries(lambda: api.get("/api/v1/jobs"))
    for _ in range(18):
        world.submit(secrets=[])
    assert len(api.get("/api/v1/jobs").json()["items"]) == 20
    assert queries(lambda: api.get("/api/v1/jobs")) == few <= 12


def test_submitting_asks_little(world: World) -> None:
    api = people.api(world.owner)
    api.post("/api/v1/jobs", world.spec())
    assert queries(lambda: api.post("/api/v1/jobs", world.spec())) <= 12


def test_each_waiting_job_has_its_place_and_a_reason(world: World) -> None:
    world.submit(replicas=2, gpus_per_replica=2, max_runtime_seconds=600)
    queue.admit(world.cluster.pk, now=timezone.now())
    head = world.submit(replicas=1, priority="high")
    behind = world.submit(replicas=1)
    shown = {one["id"]: one for one in reads.shown(list(reads.jobs(world.organisation)), now=timezone.now())}
    first, second = shown[head.pk], shown[behind.pk]
    assert (first["queue_position"], second["queue_position"]) == (1, 2)
    assert first["reason"] == "Needs 1 GPUs; 0 are free now."
    assert second["reason"] == "One job is ahead in the queue."
    assert first["estimated_start"] is not None
    assert second["estimated_start"] >= first["estimated_start"]


@pytest.mark.parametrize("status", ["provisioning", "scheduled"])
def test_jobs_wait_for_a_cluster_that_is_still_coming(world: World, status: str) -> None:
    world.cluster.status = status
    world.cluster.save(update_fields=["status"])
    job = world.submit()
    assert queue.admit(world.cluster.pk, now=timezone.now()) == []
    shown = reads.shown([reads.job(world.organisation, job.pk)], now=timezone.now())[0]
    assert (shown["status"], shown["reason"]) == ("queued", "The cluster is not ready.")
    due_at = Run.objects.get(job=job).due_at
    assert due_at is not None  # the beat comes back to see whether the cluster is ready
    assert due_at <= timezone.now() + timedelta(seconds=10)
