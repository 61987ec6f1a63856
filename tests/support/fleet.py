"""Rows of the fleet for tests: a site, a node type, nodes, clusters in any state."""

from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from django.conf import settings

from accounts.models import Organisation
from clusters.models import Cluster, GpuModel, Node, NodeType, Reservation, Site
from clusters.services import bookings
from core import ids

NOW = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
DAY = timedelta(days=1)
_numbers = count(1)


def organisation(**fields: Any) -> Organisation:
    return Organisation.objects.create(**{"name": f"Customer {next(_numbers)}", **fields})


def site(**fields: Any) -> Site:
    number = next(_numbers)
    return Site.objects.create(
        **{"slug": f"site-{number}", "name": f"Site {number}", "backend": "embedded", **fields}
    )


def gpu_model(**fields: Any) -> GpuModel:
    number = next(_numbers)
    return GpuModel.objects.create(
        **{
            "slug": f"gpu-{number}",
            "name": f"GPU {number}",
            "vendor": "NVIDIA",
            "memory_gb": 80,
            "bf16_tflops": 989,
            "source": "tests",
            **fields,
        }
    )


def node_type(**fields: Any) -> NodeType:
    if "gpu_model" not in fields:
        fields["gpu_model"] = gpu_model()
    return NodeType.objects.create(
        **{
            "slug": f"type-{next(_numbers)}",
            "gpus_per_node": 8,
            "vcpus": 96,
            "memory_gb": 1024,
            "nvme_tb": 8,
            "interconnect": "NVLink",
            "fabric": "InfiniBand",
            **fields,
        }
    )


def nodes(
    at: Site, of: NodeType, number: int = 1, *, domain: str = "a", now: datetime = NOW, **fields: Any
) -> list[Node]:
    """Make nodes in one fabric domain."""
    rows = [
        Node(
            site=at,
            node_type=of,
            name=f"node-{next(_numbers):05d}",
            fabric_domain=domain,
            state_since=now,
            **fields,
        )
        for _ in range(number)
    ]
    return Node.objects.bulk_create(rows)


def pool(number: int = 4, *, domain: str = "a", **type_fields: Any) -> tuple[Site, NodeType]:
    """Make a site with so many nodes of one new type."""
    place, kind = site(), node_type(**type_fields)
    nodes(place, kind, number, domain=domain)
    return place, kind


def hold(
    at: Site,
    of: NodeType,
    *,
    number: int = 1,
    start: datetime = NOW,
    end: datetime | None = None,
    now: datetime = NOW,
    **fields: Any,
) -> Cluster:
    """Hold nodes through the real service; a day long unless told otherwise."""
    if "organisation" not in fields:
        fields["organisation"] = organisation()
    return bookings.hold(
        **{
            "site": at,
            "node_type": of,
            "nodes": number,
            "starts_at": start,
            "ends_at": end or start + DAY,
            "anchor_day": start.day,
            "hold_until": now + settings.HOLD_TIME,
            "name": "training",
            "created_by": None,
            "now": now,
            **fields,
        }
    )


def cluster(
    *,
    status: str = "ready",
    number: int = 1,
    start: datetime = NOW,
    end: datetime | None = None,
    place: tuple[Site, NodeType] | None = None,
    now: datetime = NOW,
    **fields: Any,
) -> Cluster:
    """Make a cluster that is in a state, with its nodes and reservations; nothing exists at the site."""
    at, of = place or pool(number)
    row = hold(at, of, number=number, start=start, end=end, now=now, **fields)
    row.status, row.hold_expires_at, row.state_since, row.due_at = status, None, now, row.ends_at
    row.ready_at = now if status in ("ready", "draining", "releasing", "released") else None
    row.save()
    return row


def reserve(node: Node, start: datetime, end: datetime | None, kind: str = "maintenance") -> Reservation:
    """Take a node for a span without any service."""
    return Reservation.objects.create(
        id=ids.new("rsv"), node=node, kind=kind, span=(start, end), created_at=start
    )
