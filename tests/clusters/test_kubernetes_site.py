"""A cluster's life on a Kubernetes site, through the official client against the mock API server."""

from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from clusters.models import Cluster, Node
from clusters.services import bookings, lifecycle, ports, release, sites
from core.actors import Actor
from tests.k8s.sites import MockSite
from tests.support import fleet
from tests.support.fleet import NOW
from tests.support.mockapi.faults import Fault

pytestmark = pytest.mark.django_db


@pytest.fixture
def mock(settings: Any) -> Iterator[MockSite]:
    settings.DEMO = True  # a server on this machine is for trying out
    made = MockSite()
    yield made
    ports._kubernetes.cache_clear()
    made.close()


def booked(mock: MockSite, number: int = 2) -> Cluster:
    """Return a paid cluster on a site that was added as staff add one."""
    site = sites.add(
        slug="north",
        name="North",
        city="",
        zone="Asia/Shanghai",
        gpu_resource="nvidia.com/gpu",
        storage_class="shared",
        text=yaml.safe_dump(mock.api.kubeconfig),
        in_cluster=False,
        actor=Actor(kind="staff", label="staff@berth.example"),
        now=NOW,
    )
    kind = fleet.node_type()
    for node in fleet.nodes(site, kind, number + 1):
        mock.controllers.add_node(node.name, gpus=8, labels={})
    cluster = fleet.hold(site, kind, number=number)
    bookings.confirm(cluster=cluster, now=NOW)
    return cluster


def step(cluster: Cluster, now: Any) -> Cluster:
    lifecycle.step(cluster.pk, now)
    cluster.refresh_from_db()
    return cluster


def test_a_paid_cluster_becomes_ready_on_its_own_nodes_only(mock: MockSite) -> None:
    cluster = step(booked(mock), NOW)
    assert (cluster.status, cluster.message) == ("ready", "")
    mine = set(Node.objects.filter(reservations__cluster=cluster).values_list("name", flat=True))
    owners = {node.name: node.owner for node in mock.port.list_nodes()}
    assert {name for name, owner in owners.items() if owner == cluster.object_name} == mine
    assert len(mine) == 2
    quota = mock.port.get("ResourceQuota", cluster.object_name, "berth")
    assert quota is not None
    assert quota["spec"]["hard"]["requests.nvidia.com/gpu"] == "16"
    claim = mock.port.get("PersistentVolumeClaim", cluster.object_name, "data")
    assert claim is not None
    assert claim["spec"]["storageClassName"] == "shared"


def test_nodes_are_free_when_kubernetes_says_that_all_is_gone(mock: MockSite) -> None:
    cluster = step(booked(mock), NOW)
    now = cluster.ends_at
    for _ in range(6):
        step(cluster, now)
        if cluster.status == "releasing":
            break
        now += 5 * release.POLL
    assert cluster.status == "releasing"
    assert any(node.owner for node in mock.port.list_nodes())  # the namespace is still there
    mock.until(lambda: mock.port.get("Namespace", "", cluster.object_name) is None)
    assert step(cluster, cluster.due_at).status == "released"
    assert not any(node.owner for node in mock.port.list_nodes())


def test_ended_credentials_delay_a_set_up_until_they_are_replaced(mock: MockSite) -> None:
    cluster = booked(mock)
    mock.api.faults.add(Fault(status=401, times=100))
    assert step(cluster, NOW).status == "provisioning"
    mock.api.faults.clear()
    assert step(cluster, cluster.due_at).status == "ready"
