"""Two workers on one cluster, and a worker killed between any two steps: the end state is the same."""

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection

from accounts.models import Notification
from clusters.models import Cluster, ClusterEvent, Reservation
from clusters.services import bookings, lease, lifecycle
from k8s.embedded.port import EmbeddedPort
from tests.support import fleet
from tests.support.embedded_site import EmbeddedSite
from tests.support.fleet import DAY, NOW

CALLS = ("apply", "set_node_owner", "delete", "get", "list_objects", "list_nodes", "list_pytorchjobs")
AFTER_CLAIM = timedelta(seconds=lease.CLAIM_SECONDS)


class Killed(BaseException):
    """The worker is gone; nothing in the product may catch this."""


def book(world: EmbeddedSite) -> Cluster:
    pool = fleet.pool(2)
    world.register()
    cluster = fleet.hold(*pool, number=2, end=NOW + 3 * DAY)
    bookings.confirm(cluster=cluster, now=NOW)
    return cluster


class Saboteur:
    """Counts every call to the site and every write of a result; kills the worker at one of them."""

    def __init__(self, patch: pytest.MonkeyPatch, kill_at: int | None, *, after: bool) -> None:
        self.count, self.kill_at, self.after = 0, kill_at, after
        for name in CALLS:
            patch.setattr(EmbeddedPort, name, self._wrap(getattr(EmbeddedPort, name)))
        patch.setattr(lease.Lease, "_apply", self._wrap(lease.Lease._apply))

    def _wrap(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            self.count += 1
            mine = self.count == self.kill_at
            if mine and not self.after:
                raise Killed
            result = call(*args, **kwargs)
            if mine:
                raise Killed
            return result

        return wrapped


def live(world: EmbeddedSite, cluster: Cluster) -> None:
    """Play the beat from the first minute to the last, a killed worker included."""
    now = NOW
    while True:
        cluster.refresh_from_db()
        if cluster.status == "released":
            return
        now = max(now, cluster.due_at)
        if cluster.claim_token:
            now = max(now, cluster.claim_until)
        assert lifecycle.due(now, 10) == [cluster.pk]
        try:
            lifecycle.step(cluster.pk, now)
        except Killed:
            now += timedelta(seconds=1)
        world.work()


def outcome(world: EmbeddedSite, cluster: Cluster) -> Any:
    kinds = list(ClusterEvent.objects.filter(cluster=cluster).order_by("id").values_list("kind", flat=True))
    told = sorted(Notification.objects.values_list("kind", flat=True))
    left = (world.objects(cluster), world.owners(), cluster.gpus_used, cluster.claim_token)
    spans = sorted(
        (r.kind, r.node_id, r.span.upper <= cluster.released_at) for r in cluster.reservations.all()
    )
    return cluster.status, kinds, told, left, [(kind, over) for kind, _node, over in spans]


@pytest.mark.django_db
@pytest.mark.parametrize("every", [9, pytest.param(1, marks=pytest.mark.faults)])
def test_killed_between_any_two_steps_the_end_is_the_same(
    world: EmbeddedSite, monkeypatch: pytest.MonkeyPatch, every: int
) -> None:
    with monkeypatch.context() as patch:
        saboteur = Saboteur(patch, None, after=False)
        cluster = book(world)
        live(world, cluster)
        expected, steps = outcome(world, cluster), saboteur.count
    assert steps > 25
    assert expected[1] == ["confirmed", "ready", "warned", "warned", "draining", "releasing", "released"]
    for kill_at in range(1, steps + 1, every):
        for after in (False, True):
            Notification.objects.all().delete()
            with monkeypatch.context() as patch:
                Saboteur(patch, kill_at, after=after)
                cluster = book(world)
                live(world, cluster)
            assert outcome(world, cluster) == expected, (kill_at, after)


@pytest.mark.django_db
def test_a_rival_at_the_same_time_does_nothing(world: EmbeddedSite, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = book(world)
    applied: list[str] = []
    real = EmbeddedPort.apply

    def apply(self: EmbeddedPort, manifest: Any, **kwargs: Any) -> Any:
        applied.append(manifest["kind"])
        lifecycle.step(cluster.pk, NOW)
        return real(self, manifest, **kwargs)

    monkeypatch.setattr(EmbeddedPort, "apply", apply)
    lifecycle.step(cluster.pk, NOW)
    cluster.refresh_from_db()
    assert cluster.status == "ready"
    assert len(applied) == len(set(applied)) + 1  # each object once; two of them are claims


@pytest.mark.django_db
def test_a_worker_that_comes_back_too_late_changes_nothing(
    world: EmbeddedSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It hung in a call until its claim ran out; meanwhile the cluster was set up, used and released."""
    cluster = book(world)
    real = EmbeddedPort.set_node_owner
    hung = False

    def hang(self: EmbeddedPort, node: str, owner: str | None, **kwargs: Any) -> None:
        nonlocal hung
        if not hung:
            hung = True
            lifecycle.step(cluster.pk, NOW + AFTER_CLAIM)
            live(world, cluster)
            assert world.owners() == {}
            return
        real(self, node, owner, **kwargs)

    monkeypatch.setattr(EmbeddedPort, "set_node_owner", hang)
    lifecycle.step(cluster.pk, NOW)
    cluster.refresh_from_db()
    assert cluster.status == "released"
    assert world.owners() == {}
    kinds = list(ClusterEvent.objects.filter(cluster=cluster).values_list("kind", flat=True))
    assert len(kinds) == len(set(kinds)) + 1  # only the warning comes twice: a day and an hour before


@pytest.mark.django_db
def test_a_claim_lasts_as_long_as_its_worker_works(world: EmbeddedSite) -> None:
    """So it can be short, and what a killed worker left is soon taken up."""
    cluster = book(world)
    held = lease.take(cluster.pk, NOW)
    assert held is not None
    replace(held, taken=time.monotonic() - 40).check()
    assert lease.take(cluster.pk, NOW + AFTER_CLAIM + timedelta(seconds=30)) is None
    assert lease.take(cluster.pk, NOW + AFTER_CLAIM + timedelta(seconds=60)) is not None
    with pytest.raises(lease.Lost):
        held.check()


@pytest.mark.django_db(transaction=True)
def test_two_workers_set_up_once(world: EmbeddedSite) -> None:
    clusters = [book(world) for _ in range(3)]
    start = threading.Barrier(4)

    def worker() -> None:
        try:
            start.wait(10)
            for cluster in clusters:
                lifecycle.step(cluster.pk, NOW)
        finally:
            connection.close()

    threads = [threading.Thread(target=worker) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(Cluster.objects.values_list("status", flat=True)) == {"ready"}
    assert ClusterEvent.objects.filter(kind="ready").count() == 3
    assert Notification.objects.count() == 3
    assert Reservation.objects.filter(kind="cluster").count() == 6
