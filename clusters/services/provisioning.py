"""Sets a cluster up at its site: objects, nodes, then ready; trouble is tried again until a deadline."""

from collections.abc import Callable
from datetime import datetime, timedelta

from django.db import transaction

from clusters import desired
from clusters.models import Cluster, Node
from clusters.services import bookings, notices, ports
from clusters.services.lease import Lease
from core import errors
from k8s import errors as k8s_errors
from k8s.port import Port

LATE = timedelta(minutes=15)  # from then on it is downtime
DEADLINE = timedelta(hours=1)
REFUSALS = 5  # a refusal may be a passing fault of an admission webhook; so many in a row are meant


def provision(held: Lease, next_look: Callable[[Cluster, datetime], datetime]) -> bool:
    """Make the site as desired; ready when every node is ours and reports ready."""
    cluster, now = held.cluster, held.now
    if now >= cluster.ends_at:
        return held.move("draining", due_at=now, event="draining", message="stopping_jobs")
    if now >= cluster.state_since + DEADLINE:
        return _fail(held, "setup_failed")
    try:
        port = ports.port(cluster.site)
        for manifest in desired.objects(plan(cluster)):
            held.check()
            port.apply(manifest)
        waiting = _own_nodes(held, port) or _wait_for_nodes(held, port)
    except k8s_errors.Refused:
        if cluster.attempts + 1 >= REFUSALS:
            return _fail(held, "refused")
        waiting = "refused"
    except (k8s_errors.Error, errors.Unavailable):
        waiting = "site_away"
    if waiting:
        with transaction.atomic():
            stood = held.stay(due_at=held.pause(), message=waiting, event="delayed")
            if stood and now >= max(cluster.state_since, cluster.starts_at) + LATE:
                notices.late(cluster, now)
        return False
    return held.move(
        "ready",
        due_at=next_look(cluster, now),
        event="ready",
        ready_at=cluster.ready_at or now,
        also=lambda: notices.ready(cluster, now),
    )


def plan(cluster: Cluster) -> desired.Plan:
    """Return what the objects of a cluster are made from."""
    return desired.Plan(
        namespace=cluster.object_name,
        name=cluster.name,
        organisation=cluster.organisation_id,
        nodes=cluster.nodes,
        gpus=cluster.nodes * cluster.node_type.gpus_per_node,
        gpu_resource=cluster.site.gpu_resource,
        storage_class=cluster.site.storage_class,
    )


def nodes_of(cluster: Cluster) -> list[Node]:
    """Return the servers of a cluster by name."""
    return list(
        Node.objects.filter(reservations__cluster=cluster, reservations__kind="cluster")
        .distinct()
        .order_by("name")
    )


def _own_nodes(held: Lease, port: Port) -> str:
    """Give each node to the cluster; return what to wait for, or nothing.

    A node that another cluster still owns, or that the site does not know, is exchanged if one is free.
    """
    cluster = held.cluster
    for node in nodes_of(cluster):
        held.check()
        try:
            port.set_node_owner(node.name, cluster.object_name)
        except (k8s_errors.Conflict, k8s_errors.NotFound):
            fresh = bookings.replace_node(cluster=cluster, node=node, token=held.token, now=held.now)
            if fresh is None:
                return "node_not_clean"
            notices.node_replaced(cluster, node, held.now)
            held.check()
            port.set_node_owner(fresh.name, cluster.object_name)
    return ""


def _wait_for_nodes(held: Lease, port: Port) -> str:
    mine = {node.name for node in nodes_of(held.cluster)}
    ready = {node.name for node in port.list_nodes() if node.ready and node.schedulable}
    return "" if mine <= ready else "nodes_not_ready"


def _fail(held: Lease, message: str) -> bool:
    cluster = held.cluster
    held.move(
        "failed",
        due_at=cluster.ends_at,
        event="failed",
        message=message,
        also=lambda: notices.failed(cluster, message, held.now),
    )
    return False
