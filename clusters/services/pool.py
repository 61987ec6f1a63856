"""The pool: nodes of one type at one site. Its lock, and the few queries that picking nodes needs."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from clusters import availability
from clusters.models import NodeType, Site
from core import prepared

HORIZON = timedelta(days=120)  # a gap longer than this is as good as endless when nodes are compared

_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"

# The condition on `kind` is always true. It keeps the planner from an index-only scan of the exclusion
# constraint, whose text keys are five times as slow to unpack as the rows themselves are to read.
_BUSY = """SELECT 1 FROM clusters_reservation r
    WHERE r.node_id = n.id AND r.span && tstzrange(%(start)s, %(end)s) AND r.kind <> ''"""

_FREE_BY_DOMAIN = f"""
SELECT n.fabric_domain, count(*)
FROM clusters_node n
WHERE n.site_id = %(site)s AND n.node_type_id = %(type)s AND n.state = 'available'
  AND NOT EXISTS ({_BUSY})
GROUP BY n.fabric_domain
"""  # noqa: S608 (no value is formatted in)

_FREE_BY_POOL = f"""
SELECT n.site_id, n.node_type_id, count(*)
FROM clusters_node n
WHERE n.state = 'available' AND NOT EXISTS ({_BUSY})
GROUP BY n.site_id, n.node_type_id
"""  # noqa: S608

_CANDIDATES = """
SELECT n.id, n.fabric_domain,
       max(upper(r.span)) FILTER (WHERE upper(r.span) <= %(start)s),
       min(lower(r.span)) FILTER (WHERE lower(r.span) >= %(end)s)
FROM clusters_node n
LEFT JOIN clusters_reservation r ON r.node_id = n.id AND r.span && tstzrange(%(past)s, %(future)s)
WHERE n.site_id = %(site)s AND n.node_type_id = %(type)s AND n.state = 'available'
  AND n.fabric_domain = ANY(%(domains)s)
GROUP BY n.id
HAVING NOT coalesce(bool_or(r.span && tstzrange(%(start)s, %(end)s)), false)
"""

# The domain rule of `availability.choose_domains` for types that do not span, so that one query does it all.
_SMALLEST = f"""
WITH smallest AS (
    SELECT n.fabric_domain, array_agg(n.id) AS ids FROM clusters_node n
    WHERE n.site_id = %(site)s AND n.node_type_id = %(type)s AND n.state = 'available'
      AND NOT EXISTS ({_BUSY})
    GROUP BY n.fabric_domain HAVING count(*) >= %(count)s
    ORDER BY count(*), n.fabric_domain COLLATE "C" LIMIT 1
)
SELECT f.id, s.fabric_domain, before.at, after.at
FROM smallest s, unnest(s.ids) AS f(id),
LATERAL (SELECT max(upper(r.span)) AS at FROM clusters_reservation r
         WHERE r.node_id = f.id AND r.span && tstzrange(%(past)s, %(start)s)) before,
LATERAL (SELECT min(lower(r.span)) AS at FROM clusters_reservation r
         WHERE r.node_id = f.id AND r.span && tstzrange(%(end)s, %(future)s)) after
"""  # noqa: S608

_GAPS = """
WITH pool AS (
    SELECT id, fabric_domain FROM clusters_node
    WHERE site_id = %(site)s AND node_type_id = %(type)s AND state = 'available'
), busy AS (
    SELECT p.fabric_domain, lower(r.span) AS start, upper(r.span) AS until,
           lead(lower(r.span)) OVER node AS following, row_number() OVER node AS place
    FROM pool p JOIN clusters_reservation r ON r.node_id = p.id AND r.span && tstzrange(%(from)s, NULL)
    WINDOW node AS (PARTITION BY r.node_id ORDER BY lower(r.span))
)
SELECT fabric_domain, until, following FROM busy
WHERE until IS NOT NULL AND (following IS NULL OR following - until >= %(length)s)
UNION ALL
SELECT fabric_domain, %(from)s, start FROM busy WHERE place = 1 AND start - %(from)s >= %(length)s
UNION ALL
SELECT fabric_domain, %(from)s, NULL FROM pool p WHERE NOT EXISTS (
    SELECT 1 FROM clusters_reservation r WHERE r.node_id = p.id AND r.span && tstzrange(%(from)s, NULL))
"""


def lock(site_id: str, node_type_id: str) -> None:
    """Take the pool until the transaction ends; see docs/locking.md."""
    with prepared.cursor() as cursor:
        cursor.execute(_LOCK, [f"pool:{site_id}:{node_type_id}"])


def free_by_domain(site: Site, node_type: NodeType, start: datetime, end: datetime) -> dict[str, int]:
    """Return how many nodes of each fabric domain are free for the whole span."""
    with prepared.cursor() as cursor:
        cursor.execute(_FREE_BY_DOMAIN, {"start": start, "end": end, "site": site.pk, "type": node_type.pk})
        return dict(cursor.fetchall())


def free_by_pool(start: datetime, end: datetime) -> dict[tuple[str, str], int]:
    """Return how many nodes of every pool are free for the whole span, by (site id, type id)."""
    with prepared.cursor() as cursor:
        cursor.execute(_FREE_BY_POOL, {"start": start, "end": end})
        return {(site, node_type): count for site, node_type, count in cursor.fetchall()}


def candidates(
    site: Site, node_type: NodeType, domains: Sequence[str], start: datetime, end: datetime
) -> list[availability.Candidate]:
    """Return the free nodes of these domains with the idle time beside the span."""
    values = {**_values(site, node_type, start, end), "domains": list(domains)}
    return _candidates(_CANDIDATES, values, start, end)


def smallest_domain(
    site: Site, node_type: NodeType, count: int, start: datetime, end: datetime
) -> list[availability.Candidate]:
    """Return the free nodes of the smallest domain that has so many, or nothing."""
    values = {**_values(site, node_type, start, end), "count": count}
    return _candidates(_SMALLEST, values, start, end)


def _values(site: Site, node_type: NodeType, start: datetime, end: datetime) -> dict[str, Any]:
    return {
        "site": site.pk,
        "type": node_type.pk,
        "start": start,
        "end": end,
        "past": start - HORIZON,
        "future": end + HORIZON,
    }


def _candidates(
    sql: str, values: dict[str, Any], start: datetime, end: datetime
) -> list[availability.Candidate]:
    with prepared.cursor() as cursor:
        cursor.execute(sql, values)
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
    values: dict[str, Any] = {"site": site.pk, "type": node_type.pk, "from": not_before, "length": duration}
    with prepared.cursor() as cursor:
        cursor.execute(_GAPS, values)
        idle = cursor.fetchall()
    return availability.first_start(idle, nodes, duration, spans=node_type.spans_domains)
