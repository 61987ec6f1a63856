"""A cluster's life on an embedded site: set-up, warnings, end, and that nothing is freed too early."""

from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings

from accounts.models import AuditEntry, MailMessage, Notification
from clusters.models import Cluster, ClusterEvent, Reservation
from clusters.services import bookings, lifecycle, provisioning, release
from core import errors
from core.actors import Actor
from k8s.embedded.port import EmbeddedPort
from k8s.errors import Refused, Unavailable
from tests.support import fleet, people
from tests.support.embedded_site import EmbeddedSite
from tests.support.fleet import DAY, NOW

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)


def booked(world: EmbeddedSite, number: int = 2, *, spare: int = 0, days: int = 3, **fields: Any) -> Cluster:
    pool = fleet.pool(number + spare)
    world.register()
    cluster = fleet.hold(*pool, number=number, end=NOW + days * DAY, **fields)
    bookings.confirm(cluster=cluster, now=NOW)
    return cluster


def step(cluster: Cluster, now: Any) -> Cluster:
    lifecycle.step(cluster.pk, now)
    cluster.refresh_from_db()
    return cluster


def kinds(cluster: Cluster) -> list[str]:
    return list(ClusterEvent.objects.filter(cluster=cluster).order_by("id").values_list("kind", flat=True))


def job(cluster: Cluster) -> dict[str, Any]:
    container = {"name": "pytorch", "image": "x", "command": ["sleep", "60"]}
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "run-1", "namespace": cluster.object_name},
        "spec": {
            "pytorchReplicaSpecs": {
                "Master": {"replicas": 1, "template": {"spec": {"containers": [container]}}}
            }
        },
    }


def test_a_confirmed_cluster_becomes_ready(world: EmbeddedSite) -> None:
    cluster = step(booked(world), NOW)
    assert (cluster.status, cluster.ready_at, cluster.message) == ("ready", NOW, "")
    assert cluster.due_at == cluster.ends_at - DAY
    assert cluster.claim_token == ""
    mine = {node.name for node in provisioning.nodes_of(cluster)}
    assert world.owners() == dict.fromkeys(mine, cluster.object_name)
    assert ("ResourceQuota", "berth") in world.objects(cluster)
    assert ("PersistentVolumeClaim", "checkpoints") in world.objects(cluster)
    assert kinds(cluster) == ["confirmed", "ready"]
    assert Notification.objects.get().kind == "cluster.ready"


def test_a_later_start_waits_for_its_time(world: EmbeddedSite) -> None:
    cluster = booked(world, start=NOW + DAY)
    assert step(cluster, NOW).status == "scheduled"
    assert step(cluster, NOW + DAY).status == "ready"
    assert kinds(cluster) == ["confirmed", "provisioning", "ready"]


def test_the_end_is_announced_a_day_and_an_hour_before(world: EmbeddedSite) -> None:
    cluster = step(booked(world), NOW)
    for moment in (cluster.ends_at - DAY, cluster.ends_at - DAY, cluster.ends_at - HOUR):
        step(cluster, moment)
        step(cluster, moment)
    assert kinds(cluster).count("warned") == 2
    assert cluster.due_at == cluster.ends_at
    assert cluster.status == "ready"


def test_a_short_lease_is_not_warned_of_before_it_began(world: EmbeddedSite) -> None:
    pool = fleet.pool(1)
    world.register()
    cluster = fleet.hold(*pool, end=NOW + 5 * HOUR)
    bookings.confirm(cluster=cluster, now=NOW)
    assert step(cluster, NOW).due_at == cluster.ends_at - HOUR


def test_after_an_outage_only_the_nearest_warning_is_sent(world: EmbeddedSite) -> None:
    cluster = step(booked(world), NOW)
    step(cluster, cluster.ends_at - HOUR / 2)
    assert kinds(cluster).count("warned") == 1
    assert cluster.due_at == cluster.ends_at


def test_the_end_waits_for_jobs_then_for_kubernetes(world: EmbeddedSite) -> None:
    cluster = step(booked(world), NOW)
    world.port.apply(job(cluster))
    end = cluster.ends_at
    assert step(cluster, end).status == "draining"
    assert cluster.due_at > end
    world.port.delete("PyTorchJob", cluster.object_name, "run-1")
    world.work()
    end += 5 * release.POLL
    assert step(cluster, end).status == "releasing"
    assert world.owners()  # the supervisor has not deleted anything yet, so nothing is freed
    world.work()
    assert step(cluster, cluster.due_at).status == "released"
    assert world.owners() == {}
    assert world.objects(cluster) == []
    assert cluster.due_at is None
    assert kinds(cluster) == ["confirmed", "ready", "draining", "releasing", "released"]
    # What is left of the turnaround is free again.
    released = cluster.released_at
    assert {r.span.upper for r in Reservation.objects.filter(kind="turnaround")} == {released}
    assert fleet.hold(cluster.site, cluster.node_type, number=2, start=released, now=released)


def test_jobs_that_do_not_stop_end_with_their_namespace(world: EmbeddedSite) -> None:
    cluster = step(booked(world), NOW)
    world.port.apply(job(cluster))
    end = cluster.ends_at
    step(cluster, end)
    deadline = release.drain_deadline(cluster)
    assert deadline < end + settings.TURNAROUND
    assert step(cluster, deadline - timedelta(seconds=1)).status == "draining"
    assert step(cluster, deadline).status == "releasing"
    world.work()
    assert step(cluster, deadline + settings.TURNAROUND / 4).status == "released"


def test_a_namespace_that_stays_is_never_called_released(
    world: EmbeddedSite, caplog: pytest.LogCaptureFixture
) -> None:
    cluster = step(booked(world), NOW)
    late = cluster.ends_at + settings.TURNAROUND
    for moment in (cluster.ends_at, late, late + HOUR, late + 2 * HOUR):
        step(cluster, moment)
    assert (cluster.status, cluster.message) == ("releasing", "cleaning_late")
    assert world.owners()
    assert kinds(cluster).count("release_late") == 1
    assert "release_late" in caplog.text
    world.work()
    assert step(cluster, late + 3 * HOUR).status == "released"
    assert {r.span.upper for r in Reservation.objects.filter(kind="turnaround")} == {late}


def test_the_next_cluster_gets_another_node_when_one_is_not_clean(world: EmbeddedSite) -> None:
    cluster = booked(world, 1, spare=1)
    dirty = provisioning.nodes_of(cluster)[0]
    world.port.set_node_owner(dirty.name, "clu-before")
    step(cluster, NOW)
    assert cluster.status == "ready"
    fresh = provisioning.nodes_of(cluster)
    assert dirty not in fresh
    assert world.owners() == {dirty.name: "clu-before", fresh[0].name: cluster.object_name}
    assert "node_replaced" in kinds(cluster)
    assert not Reservation.objects.filter(node=dirty).exists()


def test_or_waits_until_it_is_clean(world: EmbeddedSite) -> None:
    cluster = booked(world, 1)
    node = provisioning.nodes_of(cluster)[0]
    world.port.set_node_owner(node.name, "clu-before")
    assert (step(cluster, NOW).status, cluster.message) == ("provisioning", "node_not_clean")
    world.port.set_node_owner(node.name, None)
    assert step(cluster, cluster.due_at).status == "ready"


def test_a_site_that_is_away_is_tried_again_until_the_deadline(
    world: EmbeddedSite, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    cluster, boss = booked(world), people.staff()

    def away(*args: Any, **kwargs: Any) -> None:
        raise Unavailable("connection refused")

    with monkeypatch.context() as patch:
        patch.setattr(EmbeddedPort, "apply", away)
        pauses = []
        now = NOW
        while cluster.status == "provisioning":
            step(cluster, now)
            pauses.append(cluster.due_at - now)
            now = cluster.due_at
        assert pauses[0] < pauses[4] <= timedelta(minutes=1)
        assert NOW + provisioning.DEADLINE <= cluster.state_since <= NOW + provisioning.DEADLINE + HOUR / 60
        assert (cluster.status, cluster.message) == ("failed", "setup_failed")
        assert kinds(cluster) == ["confirmed", "delayed", "failed"]
        told = Notification.objects.order_by("id").values_list("kind", flat=True)
        assert list(told) == ["cluster.late", "cluster.failed"]
        mails = MailMessage.objects.filter(to=boss.email).order_by("id")
        assert ["15 minutes" in mails[0].body, "failed" in mails[1].subject] == [True, True]
        assert mails.count() == 2
    assert "cluster_failed" in caplog.text
    # A way out for staff, and one for time.
    now = cluster.state_since
    actor = Actor(kind="staff", label="ops@example.org")
    lifecycle.retry(cluster=cluster, actor=actor, now=now)
    assert AuditEntry.objects.get().action == "cluster.retried"
    assert step(cluster, now).status == "ready"
    with pytest.raises(errors.InvalidState):
        lifecycle.retry(cluster=cluster, actor=actor, now=now)


def test_five_minutes_away_only_delay(world: EmbeddedSite, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = booked(world)
    real = EmbeddedPort.apply

    def flaky(self: EmbeddedPort, manifest: Any, **kwargs: Any) -> Any:
        if clock < NOW + timedelta(minutes=5):
            raise Unavailable("connection refused")
        return real(self, manifest, **kwargs)

    monkeypatch.setattr(EmbeddedPort, "apply", flaky)
    clock = NOW
    while cluster.status == "provisioning":
        step(cluster, clock)
        clock = cluster.due_at
    assert cluster.status == "ready"
    assert cluster.ready_at < NOW + timedelta(minutes=7)
    assert kinds(cluster) == ["confirmed", "delayed", "ready"]


def test_a_site_that_refuses_is_reported_and_cleaned_at_the_end(
    world: EmbeddedSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = booked(world)

    def no(*args: Any, **kwargs: Any) -> None:
        raise Refused("spec.hard: invalid")

    with monkeypatch.context() as patch:
        patch.setattr(EmbeddedPort, "set_node_owner", no)
        while cluster.status == "provisioning":
            step(cluster, cluster.due_at)
    assert (cluster.status, cluster.message) == ("failed", "refused")
    assert cluster.state_since < NOW + provisioning.DEADLINE
    assert world.objects(cluster)
    assert step(cluster, cluster.ends_at).status == "releasing"
    world.work()
    assert step(cluster, cluster.due_at).status == "released"


def test_a_lease_that_ends_while_setting_up_is_drained(world: EmbeddedSite) -> None:
    cluster = booked(world)
    step(cluster, cluster.ends_at)
    world.work()
    assert step(cluster, cluster.ends_at + HOUR).status == "released"


def test_nodes_without_a_supervisor_are_not_ready(world: EmbeddedSite) -> None:
    cluster = booked(world)
    world.supervisor.close()
    assert (step(cluster, NOW).status, cluster.message) == ("provisioning", "nodes_not_ready")
    world.__init__(settings.EMBEDDED_DIR)  # type: ignore[misc]


def test_a_forgotten_hold_is_reported_and_kept(caplog: pytest.LogCaptureFixture) -> None:
    cluster = fleet.hold(*fleet.pool(1))
    step(cluster, cluster.due_at)
    assert cluster.status == "held"
    assert cluster.due_at > NOW + HOUR
    assert "hold_forgotten" in caplog.text


def test_only_due_clusters_are_listed_and_never_all() -> None:
    pool = fleet.pool(5)
    rows = [fleet.hold(*pool) for _ in range(5)]
    for row in rows[:3]:
        bookings.confirm(cluster=row, now=NOW)
    assert len(lifecycle.due(NOW, 2)) == 2
    assert set(lifecycle.due(NOW, 10)) == {row.pk for row in rows[:3]}
    Cluster.objects.filter(pk=rows[0].pk).update(claim_token="x", claim_until=NOW + HOUR)
    assert set(lifecycle.due(NOW, 10)) == {rows[1].pk, rows[2].pk}
