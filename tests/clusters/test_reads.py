"""What pages show, with as many queries for one row as for twenty."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Organisation
from clusters import reads
from clusters.models import Node
from clusters.services import catalogue, events
from core import errors
from tests.support import fleet
from tests.support.fleet import DAY, NOW

pytestmark = pytest.mark.django_db


def page(cluster: Any) -> int:
    with CaptureQueriesContext(connection) as queries:
        shown = reads.cluster_page(cluster.organisation, cluster.pk)
        assert len(shown.nodes) == cluster.nodes
        assert [event.text for event in shown.events]
        assert shown.cluster.site.name
        assert shown.cluster.node_type.gpu_model.name
    return len(queries)


def test_a_cluster_page_costs_the_same_for_one_node_and_for_twenty() -> None:
    small, large = fleet.cluster(), fleet.cluster(number=20)
    events.record(small, "ready", now=NOW)
    for _ in range(20):
        events.record(large, "delayed", now=NOW)
    assert page(small) == page(large) == 3


def test_free_gpus_count_only_while_ready() -> None:
    row = fleet.cluster(number=2)
    row.gpus_used = 5
    assert (reads.gpus(row), reads.free_gpus(row)) == (16, 11)
    row.status = "draining"
    assert reads.free_gpus(row) == 0


def test_open_clusters_come_first_by_their_end() -> None:
    home = fleet.organisation()
    late = fleet.cluster(organisation=home, end=NOW + 9 * DAY)
    soon = fleet.cluster(organisation=home)
    fleet.cluster(organisation=home, status="released")
    assert list(reads.open_clusters(home)) == [soon, late]
    assert reads.clusters(home).count() == 3
    with pytest.raises(errors.NotFound):
        reads.cluster_page(Organisation.objects.create(name="Stranger"), soon.pk)


def test_nodes_over_time() -> None:
    at, of = fleet.pool(2)
    row = fleet.cluster(place=(at, of), start=NOW + DAY)
    idle = Node.objects.exclude(reservations__cluster=row).get()
    fleet.reserve(idle, NOW + 3 * DAY, None)
    with CaptureQueriesContext(connection) as queries:
        shown = reads.timeline(site=at, start=NOW, end=NOW + 4 * DAY)
        bars = {r.node.pk: [(b.kind, b.left, round(b.width, 3)) for b in r.bars] for r in shown.rows}
        assert all(b.cluster is None or b.cluster.organisation.name for r in shown.rows for b in r.bars)
    assert len(queries) == 2
    busy = Node.objects.get(reservations__cluster=row, reservations__kind="cluster")
    assert bars == {
        busy.pk: [("cluster", 0.25, 0.25), ("turnaround", 0.5, 0.005)],
        idle.pk: [("maintenance", 0.75, 0.25)],
    }
    assert shown.states == {"available": 2}
    assert reads.fleet_counts()[0]["available"] == 2


def test_free_nodes_of_every_pool_take_one_query() -> None:
    pools = [fleet.pool(3) for _ in range(3)]
    fleet.hold(*pools[0], number=2)
    with CaptureQueriesContext(connection) as queries:
        free = catalogue.free_now(NOW)
    assert len(queries) == 1
    assert [free[at.pk, of.pk] for at, of in pools] == [1, 3, 3]
    assert catalogue.free_now(NOW + timedelta(days=2))[pools[0][0].pk, pools[0][1].pk] == 3
    assert catalogue.site_slugs()[pools[1][1].pk] == [pools[1][0].slug]
