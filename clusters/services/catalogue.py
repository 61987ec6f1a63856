"""Reads of what is offered: sites, chips, server types and free capacity. Prices are joined a floor above."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Q, QuerySet

from clusters import availability
from clusters.models import GpuModel, Node, NodeType, Site
from clusters.services import pool


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether a booking would find its nodes; ``next_start`` is the earliest start for the same length.

    ``free_nodes`` counts all that are free for the span, ``largest`` what one cluster could take of them.
    """

    available: bool
    free_nodes: int
    largest: int
    next_start: datetime | None


def sites() -> QuerySet[Site]:
    """Return the sites that take customers."""
    return Site.objects.filter(active=True)


def gpu_models() -> QuerySet[GpuModel]:
    """Return the chips of all offered server types and of none but those."""
    return GpuModel.objects.filter(node_types__offered=True).distinct()


def node_types() -> QuerySet[NodeType]:
    """Return what is offered, with its chip; :func:`site_slugs` says where it stands."""
    return NodeType.objects.filter(offered=True).select_related("gpu_model")


def site_slugs() -> dict[str, list[str]]:
    """Return the slugs of active sites that have servers of a type, by the id of the type."""
    rows = (
        Node.objects.filter(site__active=True)
        .exclude(state="retired")
        .values_list("node_type_id", "site__slug")
        .distinct()
        .order_by("site__slug")
    )
    found: dict[str, list[str]] = {}
    for node_type, slug in rows:
        found.setdefault(node_type, []).append(slug)
    return found


def find_site(reference: str) -> Site | None:
    """Return an active site by slug or id."""
    return sites().filter(Q(slug=reference) | Q(pk=reference)).first()


def find_node_type(reference: str) -> NodeType | None:
    """Return an offered server type by slug or id."""
    return node_types().filter(Q(slug=reference) | Q(pk=reference)).first()


def available(
    *, site: Site, node_type: NodeType, nodes: int, starts_at: datetime, ends_at: datetime
) -> Availability:
    """Say whether so many nodes are free for the span, and if not, when they are for as long."""
    end = ends_at + settings.TURNAROUND
    counts = pool.free_by_domain(site, node_type, starts_at, end)
    total = sum(counts.values())
    largest = total if node_type.spans_domains else max(counts.values(), default=0)
    if availability.choose_domains(counts, nodes, spans=node_type.spans_domains):
        return Availability(True, total, largest, starts_at)
    next_start = pool.next_start(site, node_type, nodes, end - starts_at, starts_at)
    return Availability(False, total, largest, next_start)


def free_now(now: datetime, length: timedelta = timedelta(days=1)) -> dict[tuple[str, str], int]:
    """Return free nodes by (site id, type id) for a lease that begins now: one query for the whole page."""
    return pool.free_by_pool(now, now + length + settings.TURNAROUND)
