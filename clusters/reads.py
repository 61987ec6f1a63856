"""Queries for pages: clusters of a customer, and for staff who has which node when. They write nothing."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Q, QuerySet

from accounts.models import Organisation
from clusters import states
from clusters.models import Cluster, ClusterEvent, Node, NodeType, Reservation, Site
from core.tenancy import TenantQuerySet


@dataclass(frozen=True, slots=True)
class ClusterPage:
    """One cluster with what its page shows; ``gpus_free`` counts only while it is ready."""

    cluster: Cluster
    nodes: Sequence[Node]
    events: Sequence[ClusterEvent]
    gpus: int
    gpus_used: int
    gpus_free: int


@dataclass(frozen=True, slots=True)
class Bar:
    """A reservation in a window, as shares of its width from 0 to 1; ``cluster`` is None for maintenance."""

    kind: str
    start: datetime
    end: datetime | None
    left: float
    width: float
    cluster: Cluster | None


@dataclass(frozen=True, slots=True)
class NodeRow:
    """A node with its bars in a window, oldest first."""

    node: Node
    bars: Sequence[Bar]


@dataclass(frozen=True, slots=True)
class Timeline:
    """Nodes of a pool over time, for staff."""

    start: datetime
    end: datetime
    rows: Sequence[NodeRow]
    states: dict[str, int]


def clusters(organisation: Organisation) -> TenantQuerySet[Cluster]:
    """Return the clusters of a customer with site and type, newest first."""
    return (
        Cluster.objects.for_org(organisation)
        .select_related("site", "node_type", "node_type__gpu_model")
        .order_by("-pk")
    )


def open_clusters(organisation: Organisation) -> TenantQuerySet[Cluster]:
    """Return those that still live or are about to, soonest end first."""
    return clusters(organisation).exclude(status__in=states.CLOSED).order_by("ends_at", "pk")


def cluster_page(organisation: Organisation, pk: str) -> ClusterPage:
    """Return one cluster with its nodes and timeline: three queries; a stranger's is NotFound."""
    cluster = clusters(organisation).get_or_404(pk)
    return ClusterPage(
        cluster=cluster,
        nodes=list(nodes_of(cluster)),
        events=list(cluster.events.order_by("pk")[:200]),
        gpus=gpus(cluster),
        gpus_used=cluster.gpus_used,
        gpus_free=free_gpus(cluster),
    )


def nodes_of(cluster: Cluster) -> QuerySet[Node]:
    """Return the nodes of a cluster by name; of a released one those that it had."""
    return Node.objects.filter(
        pk__in=Reservation.objects.filter(cluster=cluster, kind="cluster").values("node_id")
    ).order_by("name")


def broken_nodes(cluster_id: str, names: Sequence[str]) -> list[str]:
    """Return which of these nodes of a cluster's site have failed."""
    if not names:
        return []
    rows = Node.objects.filter(site__clusters=cluster_id, name__in=names, state__in=states.NODE_BROKEN)
    return list(rows.order_by("name").values_list("name", flat=True))


def gpus(cluster: Cluster) -> int:
    """Return how many GPUs a cluster has; its type is loaded."""
    return cluster.nodes * cluster.node_type.gpus_per_node


def free_gpus(cluster: Cluster) -> int:
    """Return how many GPUs a job could take now."""
    return max(0, gpus(cluster) - cluster.gpus_used) if cluster.status == "ready" else 0


def timeline(
    *, site: Site, node_type: NodeType | None = None, start: datetime, end: datetime, limit: int = 500
) -> Timeline:
    """Return who has which node in a window: two queries, however many nodes and reservations there are."""
    nodes = Node.objects.filter(site=site).exclude(state="retired").select_related("node_type")
    if node_type is not None:
        nodes = nodes.filter(node_type=node_type)
    shown = list(nodes.order_by("node_type__position", "fabric_domain", "name")[:limit])
    bars: dict[str, list[Bar]] = {node.pk: [] for node in shown}
    taken = (
        Reservation.objects.filter(node__in=list(bars), span__overlap=(start, end))
        .select_related("cluster__organisation")
        .order_by("span")
    )
    for reservation in taken:
        bars[reservation.node_id].append(_bar(reservation, start, end))
    return Timeline(
        start=start,
        end=end,
        rows=[NodeRow(node, bars[node.pk]) for node in shown],
        states=dict(Counter(node.state for node in shown)),
    )


def _bar(reservation: Reservation, start: datetime, end: datetime) -> Bar:
    first, last = reservation.span.lower, reservation.span.upper
    shown_from, shown_to = max(first, start), min(last or end, end)
    whole = (end - start).total_seconds()
    return Bar(
        kind=reservation.kind,
        start=first,
        end=last,
        left=(shown_from - start).total_seconds() / whole,
        width=(shown_to - shown_from).total_seconds() / whole,
        cluster=reservation.cluster,
    )


def fleet_counts() -> list[dict[str, Any]]:
    """Return nodes by site and type with how many are available, for the staff overview: one query."""
    rows: QuerySet[Any] = (
        Node.objects.exclude(state="retired")
        .values("site__slug", "site__name", "node_type__slug", "node_type__gpus_per_node")
        .annotate(total=Count("pk"), available=Count("pk", filter=Q(state="available")))
        .order_by("site__slug", "node_type__position")
    )
    return list(rows)
