"""The pool: nodes of one type at one site. Its lock, and the few queries that picking nodes needs."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import connection
from django.db.backends.utils import CursorWrapper

from clusters import availability
from clusters.models import NodeType, Site

HORIZON = timedelta(days=120)  # a gap longer than this is as good as endless when nodes are compared

_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"

_FREE_BY_DOMAIN = """
SELECT n.fabric_domain, count(*)
FROM clusters_node n
LEFT JOIN (SELECT DISTINCT node_id FROM clusters_reservation WHERE span && tstzrange(%s, %s)) busy
       ON busy.node_id = n.id
WHERE n.site_id = %s AND n.node_type_id = %s AND n.state = 'available' AND busy.node_id IS NULL
GROUP BY n.fabric_domain
"""

_FREE_BY_POOL = """
SELECT n.site_id, n.node_type_id, count(*)
FROM clusters_node n
LEFT JOIN (SELECT DISTINCT node_id FROM clusters_reservation WHERE span && tstzrange(%s, %s)) busy
       ON busy.node_id = n.id
WHERE n.state = 'available' AND busy.node_id IS NULL
GROUP BY n.site_id, n.node_type_id
"""

_CANDIDATES = """
SELECT n.id, n.fabric_domain,
       max(upper(r.span)) FILTER (WHERE upper(r.span) <= %s),
       min(lower(r.span)) FILTER (WHERE lower(r.span) >= %s)
FROM clusters_node n
LEFT JOIN clusters_reservation r ON r.node_id = n.id AND r.span && tstzrange(%s, %s)
WHERE n.site_id = %s AND n.node_type_id = %s AND n.state = 'available' AND n.fabric_domain = ANY(%s)
GROUP BY n.id
HAVING NOT coalesce(bool_or(r.span && tstzrange(%s, %s)), false)
"""

_TIMES = """
SELECT n.id, n.fabric_domain, lower(r.span), upper(r.span)
FROM clusters_node n
LEFT JOIN clusters_reservation r ON r.node_id = n.id AND r.span && tstzrange(%s, NULL)
WHERE n.site_id = %s AND n.node_type_id = %s AND n.state = 'available'
ORDER BY n.id
"""


def lock(site_id: str, node_type_id: str) -> None:
    """Take the pool until the transaction ends; see docs/locking.md."""
    with connection.cursor() as cursor:
        cursor.execute(_LOCK, [f"pool:{site_id}:{node_type_id}"])


def free_by_domain(site: Site, node_type: NodeType, start: datetime, end: datetime) -> dict[str, int]:
    """Return how many nodes of each fabric domain are free for the whole span."""
    with connection.cursor() as cursor:
        cursor.execute(_FREE_BY_DOMAIN, [start, end, site.pk, node_type.pk])
        return dict(cursor.fetchall())


def free_by_pool(start: datetime, end: datetime) -> dict[tuple[str, str], int]:
    """Return how many nodes of every pool are free for the whole span, by (site id, type id)."""
    with connection.cursor() as cursor:
        cursor.execute(_FREE_BY_POOL, [start, end])
        return {(site, node_type): count for site, node_type, count in cursor.fetchall()}


def candidates(
    site: Site, node_type: NodeType, domains: Sequence[str], start: datetime, end: datetime
) -> list[availability.Candidate]:
    """Return the free nodes of these domains with the idle time beside the span."""
    with connection.cursor() as cursor:
        cursor.execute(
            _CANDIDATES,
            [
                start,
                end,
                start - HORIZON,
                end + HORIZON,
                site.pk,
                node_type.pk,
                list(domains),
                start,
                end,
            ],
        )
        return [
            availability.Candidate(
                node,
                domain,
                availability.FAR if before is None else start - before,
                availability.FAR if after is None else after - end,
            )
            for node, domain, before, after in cursor.fetchall()
        ]


def next_start(
    site: Site, node_type: NodeType, nodes: int, duration: timedelta, not_before: datetime
) -> datetime | None:
    """Return the earliest start at which so many nodes are free for that long; None: never enough nodes."""
    with connection.cursor() as cursor:
        cursor.execute(_TIMES, [not_before, site.pk, node_type.pk])
        times = _times(cursor)
    return availability.next_start(times, nodes, duration, not_before, spans=node_type.spans_domains)


def _times(cursor: CursorWrapper) -> list[availability.NodeTimes]:
    found: dict[str, tuple[str, list[availability.Span]]] = {}
    for node, domain, start, end in cursor.fetchall():
        busy = found.setdefault(node, (domain, []))[1]
        if start is not None:
            busy.append((start, end))
    return [availability.NodeTimes(node, domain, busy) for node, (domain, busy) in found.items()]
