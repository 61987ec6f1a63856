"""The watcher: it follows a site through expired versions, outages and silence, and misses nothing."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.utils import timezone

from jobs.models import Job, Run
from jobs.services import collect, collector, logs, watcher
from k8s import errors
from k8s.types import WatchEvent
from tests.support import wait
from tests.support.training import World


def _handed_over(world: World, **fields: Any) -> Job:
    """Return a job that the site knows and the watcher has not looked at."""
    job = world.submit(**fields)
    while world.status(job) != "pending":
        world.tick(watch=False)
    return job


def _let_it_end(world: World, job: Job) -> None:
    run = job.runs.get()

    def over() -> bool:
        world.supervisor.step()
        found = world.port.list_pytorchjobs()[0]
        return any(one.name == run.object_name and one.condition("Succeeded") for one in found)

    wait.until(over, 20)


def test_events_of_a_watch_move_a_run(world: World) -> None:
    version = watcher.resync(world.port, world.site)
    job = _handed_over(world)
    _let_it_end(world, job)
    assert world.status(job) == "pending"
    for event in world.port.watch_pytorchjobs(version, timeout=0.2):
        if event.job is not None:
            watcher.take(world.port, event.job, gone=event.type == "deleted")
    assert world.status(job) == "succeeded"


def test_what_happened_while_nobody_watched_is_in_the_list(world: World) -> None:
    job = _handed_over(world)
    _let_it_end(world, job)
    watcher.resync(world.port, world.site)
    assert world.status(job) == "succeeded"


def test_an_object_that_somebody_deleted_is_an_infrastructure_failure(world: World) -> None:
    job = world.submit(code="import time; time.sleep(600)")
    world.until(lambda: world.status(job) == "running")
    run = job.runs.get()
    Run.objects.filter(pk=run.pk).update(launched_at=timezone.now() - watcher.FRESH * 2)
    world.port.delete("PyTorchJob", world.cluster.object_name, run.object_name, grace_seconds=0)
    world.until(lambda: job.runs.count() == 2)
    run.refresh_from_db()
    assert (run.status, run.why["code"], run.failure_class) == ("failed", "vanished", "infrastructure")


def test_objects_of_others_are_passed_over(world: World) -> None:
    job = _handed_over(world)
    info = world.port.list_pytorchjobs()[0][0]
    watcher.take(world.port, replace(info, namespace="somebody-else"), gone=True)
    watcher.take(world.port, replace(info, name="not-ours"), gone=True)
    assert world.status(job) == "pending"


class Flaky:
    """A port whose watch breaks in every way there is before it works."""

    def __init__(self, stop: threading.Event) -> None:
        self.stop, self.lists, self.watches = stop, 0, 0

    def list_pytorchjobs(self) -> tuple[list[Any], str]:
        self.lists += 1
        if self.lists == 1:
            raise errors.Unavailable("away")
        return [], str(self.lists)

    def watch_pytorchjobs(self, version: str, *, timeout: float) -> Iterator[WatchEvent]:
        self.watches += 1
        match self.watches:
            case 1:
                raise errors.Gone("too old")
            case 2:
                return  # ended without a word
            case 3:
                yield WatchEvent("bookmark", "77")
                raise errors.Unavailable("lost in the middle")
            case _:
                self.stop.set()


def test_a_broken_watch_is_made_anew(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    stop = threading.Event()
    flaky = Flaky(stop)
    monkeypatch.setattr(watcher.ports, "port", lambda site: flaky)
    monkeypatch.setattr(watcher, "PAUSE_FIRST", 0.01)
    monkeypatch.setattr(watcher, "close_old_connections", lambda: None)
    watcher.follow(world.site, stop)
    assert (flaky.lists, flaky.watches) == (4, 4)  # away, Gone, silence kept the watch, loss made a new list


def test_a_collector_that_died_in_mid_way_reads_nothing_twice(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = world.submit(code="for n in range(3000): print('line', n)")
    world.until(lambda: world.status(job) == "succeeded")
    run = job.runs.get()
    real, died = collect._store_points, []

    def die_once(*args: Any) -> None:
        real(*args)
        if not died:
            died.append(True)
            raise errors.Unavailable("killed before the commit")

    monkeypatch.setattr(collect, "_store_points", die_once)
    monkeypatch.setattr(collect, "CHUNK_BYTES", 4096)
    Run.objects.filter(pk=run.pk).update(collected=False)
    run.streams.all().delete()
    fresh = collect.Memory()
    for _ in range(60):
        collector.once(fresh)
    run.refresh_from_db()
    lines = logs.read(run, after=None, limit=10_000).lines
    assert died
    assert [line.text for line in lines] == [f"line {n}" for n in range(3000)]


def test_collectors_share_the_runs(monkeypatch: pytest.MonkeyPatch, world: World) -> None:
    jobs = [world.submit(code="import time; time.sleep(600)") for _ in range(3)]
    world.until(lambda: all(job.runs.get().launched_at for job in jobs))
    read: dict[int, set[str]] = {0: set(), 1: set()}
    for shard, seen in read.items():
        monkeypatch.setattr(collect, "collect", lambda run, seen=seen, **told: bool(seen.add(run.pk)))
        collector.once(collect.Memory(), shard=shard, shards=2)
    assert read[0] | read[1] == {job.runs.get().pk for job in jobs}
    assert not read[0] & read[1]
