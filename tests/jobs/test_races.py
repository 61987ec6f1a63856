"""Rivals on the same rows, on real connections: admission, launch, submit; and the race without the lock."""

import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.db.models import F, Sum
from django.utils import timezone

from clusters.models import Cluster
from jobs.models import Job, Run
from jobs.services import launch, queue, submit
from tests.support.training import World

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(places: Path, transactional_db: None) -> Iterator[World]:
    made = World(places)
    yield made
    made.close()


def together(*calls: Callable[[], Any]) -> list[Any]:
    """Call all at the same moment, each on a connection of its own, and return what they gave."""
    barrier = threading.Barrier(len(calls))
    results: list[Any] = [None] * len(calls)

    def one(place: int, call: Callable[[], Any]) -> None:
        try:
            barrier.wait(10)
            results[place] = call()
        except BaseException as error:
            results[place] = error
        finally:
            connection.close()

    threads = [threading.Thread(target=one, args=pair) for pair in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    faults = [result for result in results if isinstance(result, BaseException)]
    assert not faults, faults
    return results


def held(world: World) -> int:
    rows = Run.objects.filter(cluster=world.cluster, holds=True)
    return rows.aggregate(sum=Sum(F("job__replicas") * F("job__gpus_per_replica")))["sum"] or 0


def queue_up(world: World, jobs: int, **fields: Any) -> None:
    for _ in range(jobs):
        world.submit(**fields)


def test_admission_in_parallel_never_gives_out_more_gpus_than_there_are(world: World) -> None:
    queue_up(world, 12)
    now = timezone.now()
    together(*[lambda: queue.admit(world.cluster.pk, now=now)] * 8)
    assert (held(world), world.used()) == (4, 4)
    assert Job.objects.filter(status="launching").count() == 4


def overtaken(world: World, monkeypatch: pytest.MonkeyPatch) -> int:
    """Let a second admission with urgent jobs come between the look and the writing of a first one."""
    queue_up(world, 4)
    looked, done = threading.Event(), threading.Event()
    real, first_thread = queue.queueing.plan, []

    def plan(*args: Any) -> Any:
        made = real(*args)
        if threading.get_ident() in first_thread:
            looked.set()
            done.wait(1.5)  # with the lock the second one cannot be done before us
        return made

    def first() -> None:
        first_thread.append(threading.get_ident())
        queue.admit(world.cluster.pk, now=timezone.now())

    def second() -> None:
        assert looked.wait(10)
        queue_up(world, 4, priority="high")
        queue.admit(world.cluster.pk, now=timezone.now())
        done.set()

    monkeypatch.setattr(queue.queueing, "plan", plan)
    together(first, second)
    return held(world)


def test_an_admission_that_is_overtaken_keeps_within_the_gpus(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert overtaken(world, monkeypatch) == 4


def test_without_the_lock_the_same_rivals_oversell(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: it shows the race that the lock closes."""

    def unlocked(cluster_id: str) -> Cluster:
        return Cluster.objects.select_related("node_type").get(pk=cluster_id)

    monkeypatch.setattr(queue, "lock", unlocked)
    assert overtaken(world, monkeypatch) == 8


def test_two_workers_launch_a_run_once(world: World) -> None:
    job = world.submit(replicas=2)
    queue.admit(world.cluster.pk, now=timezone.now())
    run = job.runs.get()
    results = together(*[lambda: launch.launch(run.pk, now=timezone.now())] * 4)
    assert sorted(results) == [False, False, False, True]
    assert [one.name for one in world.port.list_pytorchjobs()[0]] == [run.object_name]
    assert world.status(job) == "pending"


def test_a_worker_that_died_in_mid_launch_is_replaced(world: World) -> None:
    job = world.submit()
    queue.admit(world.cluster.pk, now=timezone.now())
    run = job.runs.get()
    taken = Run.objects.filter(pk=run.pk).update(
        claim_token="dead", claim_until=timezone.now() - timedelta(seconds=1)
    )
    assert taken == 1
    assert launch.launch(run.pk, now=timezone.now())
    assert world.ended(job).status == "succeeded"
    assert job.runs.count() == 1


def test_one_key_from_many_clients_is_one_job(world: World) -> None:
    def once() -> str:
        return submit.submit(
            access=world.access, data=world.spec(), idempotency_key="idk_1", now=timezone.now()
        ).pk

    assert len(set(together(*[once] * 6))) == 1
    assert (Job.objects.count(), Run.objects.count()) == (1, 1)


def test_redis_emptied_while_jobs_wait_loses_nothing(world: World) -> None:
    from core import dispatch
    from core.heartbeat import _client

    jobs = [world.submit() for _ in range(6)]
    assert dispatch.flush(10)
    _client().flushdb()  # every hint is gone
    world.until(lambda: all(world.status(job) == "succeeded" for job in jobs), 60)
    assert world.used() == 0 or world.until(lambda: world.used() == 0)
