"""Holds, confirmations, cancellations: what is taken, what is free again, and what a customer is told."""

from datetime import timedelta

import pytest
from django.conf import settings
from django.db import IntegrityError, transaction

from clusters.models import Cluster, ClusterEvent, Node, Reservation
from clusters.services import bookings
from core import errors
from tests.support import fleet
from tests.support.fleet import DAY, NOW

pytestmark = pytest.mark.django_db


def spans(cluster: Cluster, kind: str) -> set[tuple[object, object]]:
    return {(r.span.lower, r.span.upper) for r in cluster.reservations.filter(kind=kind)}


def test_a_hold_takes_nodes_and_their_turnaround() -> None:
    cluster = fleet.hold(*fleet.pool(3), number=2)
    assert cluster.status == "held"
    assert cluster.hold_expires_at == NOW + settings.HOLD_TIME
    assert cluster.due_at > cluster.hold_expires_at
    assert spans(cluster, "cluster") == {(NOW, NOW + DAY)}
    assert spans(cluster, "turnaround") == {(NOW + DAY, NOW + DAY + settings.TURNAROUND)}
    assert cluster.reservations.filter(kind="cluster").values("node").distinct().count() == 2


def test_sold_out_names_the_next_start() -> None:
    pool = fleet.pool(2)
    fleet.hold(*pool, number=2)
    with pytest.raises(bookings.SoldOut) as caught:
        fleet.hold(*pool, number=1)
    assert caught.value.code == "sold_out"
    next_start = NOW + DAY + settings.TURNAROUND
    assert caught.value.next_start == next_start
    assert caught.value.extra == {"next_start": "2026-03-03T08:30:00Z"}
    assert fleet.hold(*pool, number=2, start=next_start).status == "held"


def test_sold_out_for_ever_names_no_start() -> None:
    with pytest.raises(bookings.SoldOut) as caught:
        fleet.hold(*fleet.pool(2), number=3)
    assert caught.value.next_start is None


def test_a_booking_before_another_needs_room_for_its_turnaround() -> None:
    pool = fleet.pool(1)
    fleet.hold(*pool, start=NOW + DAY)
    with pytest.raises(bookings.SoldOut):
        fleet.hold(*pool, end=NOW + DAY)
    assert fleet.hold(*pool, end=NOW + DAY - settings.TURNAROUND)


def test_a_cluster_lies_in_one_domain_unless_its_type_spans() -> None:
    at, of = fleet.pool(2, domain="a")
    fleet.nodes(at, of, 2, domain="b")
    with pytest.raises(bookings.SoldOut):
        fleet.hold(at, of, number=3)
    of.spans_domains = True
    of.save()
    assert fleet.hold(at, of, number=3).reservations.filter(kind="cluster").count() == 3


@pytest.mark.parametrize("state", ["suspect", "cordoned", "maintenance", "failed", "retired"])
def test_only_available_nodes_are_picked(state: str) -> None:
    at, of = fleet.pool(1)
    Node.objects.update(state=state)
    with pytest.raises(bookings.SoldOut) as caught:
        fleet.hold(at, of)
    assert caught.value.next_start is None


def test_open_ended_maintenance_blocks_for_good() -> None:
    at, of = fleet.pool(1)
    fleet.reserve(Node.objects.get(), NOW + 3 * DAY, None)
    assert fleet.hold(at, of)
    with pytest.raises(bookings.SoldOut) as caught:
        fleet.hold(at, of, start=NOW + 2 * DAY, end=NOW + 4 * DAY)
    assert caught.value.next_start is None


def test_the_constraint_refuses_what_the_lock_did_not_see() -> None:
    fleet.hold(*fleet.pool(1))
    with pytest.raises(IntegrityError, match="reservation_no_overlap"), transaction.atomic():
        fleet.reserve(Node.objects.get(), NOW, NOW + DAY)


def test_confirm_now_starts_setting_up_and_later_waits() -> None:
    pool = fleet.pool(2)
    now, later = fleet.hold(*pool), fleet.hold(*pool, start=NOW + DAY)
    for cluster in (now, later, now):
        bookings.confirm(cluster=cluster, now=NOW)
    assert (now.status, now.due_at) == ("provisioning", NOW)
    assert (later.status, later.due_at) == ("scheduled", NOW + DAY)
    assert ClusterEvent.objects.filter(cluster=now, kind="confirmed").count() == 1


def test_a_cancelled_hold_frees_its_nodes_and_cannot_be_confirmed() -> None:
    pool = fleet.pool(1)
    cluster = fleet.hold(*pool)
    for _ in range(2):
        bookings.cancel_hold(cluster=cluster, reason="Not paid in time.", now=NOW)
    assert (cluster.status, cluster.due_at, cluster.message) == ("cancelled", None, "Not paid in time.")
    assert not Reservation.objects.exists()
    assert fleet.hold(*pool)
    with pytest.raises(errors.InvalidState):
        bookings.confirm(cluster=cluster, now=NOW)


def test_a_started_cluster_is_not_cancelled_as_a_hold() -> None:
    cluster = fleet.cluster(status="ready")
    with pytest.raises(errors.InvalidState):
        bookings.cancel_hold(cluster=cluster, reason="x", now=NOW)
    assert cluster.reservations.count() == 2


def test_paid_late_is_held_again_if_capacity_is_left() -> None:
    pool = fleet.pool(1)
    cluster = fleet.hold(*pool)
    bookings.cancel_hold(cluster=cluster, reason="Not paid in time.", now=NOW)
    paid = NOW + timedelta(hours=1)
    assert bookings.rehold(cluster=cluster, starts_at=paid, ends_at=paid + DAY, now=paid)
    assert (cluster.status, cluster.starts_at, cluster.message) == ("held", paid, "")
    assert spans(cluster, "cluster") == {(paid, paid + DAY)}
    # It may also move while it still holds its nodes.
    assert bookings.rehold(cluster=cluster, starts_at=paid + DAY, ends_at=paid + 2 * DAY, now=paid)
    assert spans(cluster, "cluster") == {(paid + DAY, paid + 2 * DAY)}


def test_paid_late_with_nothing_left_changes_nothing() -> None:
    pool = fleet.pool(1)
    cluster = fleet.hold(*pool)
    bookings.cancel_hold(cluster=cluster, reason="Not paid in time.", now=NOW)
    fleet.hold(*pool)
    assert not bookings.rehold(cluster=cluster, starts_at=NOW, ends_at=NOW + DAY, now=NOW)
    cluster.refresh_from_db()
    assert (cluster.status, cluster.message) == ("cancelled", "Not paid in time.")


def test_expired_holds_in_the_way_are_named() -> None:
    at, of = fleet.pool(2)
    old = fleet.hold(at, of)
    late = NOW + settings.HOLD_TIME
    fleet.hold(at, of, now=late)
    paid = fleet.hold(at, of, start=NOW + 2 * DAY)
    bookings.confirm(cluster=paid, now=NOW)
    assert list(bookings.expired_holds(at, of, NOW, NOW + DAY, NOW)) == []
    assert list(bookings.expired_holds(at, of, NOW, NOW + DAY, late)) == [old]
    assert list(bookings.expired_holds(at, of, NOW + 2 * DAY, NOW + 3 * DAY, late)) == []
    before = NOW - timedelta(hours=5)
    touching = NOW - settings.TURNAROUND + timedelta(minutes=1)
    assert list(bookings.expired_holds(at, of, before, touching, late)) == [old]


def test_names_of_any_script_are_kept() -> None:
    cluster = fleet.hold(*fleet.pool(1), name="训练 🚀 “a.b” ' ; --")
    assert Cluster.objects.get(pk=cluster.pk).name == "训练 🚀 “a.b” ' ; --"
