"""Taking capacity and giving it back: holds, confirmations, cancellations.

Every booking is written under the lock of its pool (clusters/services/pool.py) and under the exclusion
constraint of reservations, which stays the last word. Callers bring the transaction.
"""

import contextlib
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.backends.utils import CursorWrapper
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from accounts.models import Organisation, User
from clusters import availability, states
from clusters.models import Cluster, Node, NodeType, Reservation, Site
from clusters.services import events, pool
from core import claims, dispatch, errors, ids, prepared, rows
from core.rest import fields

HOLD_OVERDUE = timedelta(hours=1)  # billing ends holds; after this the beat raises an alarm
ATTEMPTS = 3

_WRITE = """
INSERT INTO clusters_reservation (id, node_id, cluster_id, kind, span, created_at)
SELECT r.id, r.node, %s, r.kind, tstzrange(r.start, r.until), %s
FROM unnest(%s::text[], %s::text[], %s::text[], %s::timestamptz[], %s::timestamptz[])
     AS r(id, node, kind, start, until)
JOIN clusters_node n ON n.id = r.node AND n.state = 'available'
ORDER BY r.id
ON CONFLICT DO NOTHING
"""


class SoldOut(errors.Conflict):
    """So many nodes are not free for that long; ``extra["next_start"]`` says when they are."""

    code = "sold_out"

    def __init__(self, next_start: datetime | None) -> None:
        detail = (
            _("These nodes are taken at that time. The next start with enough of them free is given.")
            if next_start
            else _("This site does not have so many nodes of this type in one place.")
        )
        super().__init__(detail, extra={"next_start": fields.z(next_start) if next_start else None})
        self.next_start = next_start


def hold(
    *,
    organisation: Organisation,
    site: Site,
    node_type: NodeType,
    nodes: int,
    starts_at: datetime,
    ends_at: datetime,
    anchor_day: int,
    hold_until: datetime | None,
    name: str,
    created_by: User | None,
    now: datetime,
) -> Cluster:
    """Take nodes for a span until ``hold_until`` and return the held cluster; raises SoldOut.

    Runs inside the caller's transaction: nothing is held unless that commits.
    """
    cluster = Cluster(
        organisation=organisation,
        name=name,
        site=site,
        node_type=node_type,
        nodes=nodes,
        status="held",
        starts_at=starts_at,
        ends_at=ends_at,
        anchor_day=anchor_day,
        hold_expires_at=hold_until,
        state_since=now,
        due_at=(hold_until or now) + HOLD_OVERDUE,
        created_by=created_by,
        created_at=now,
    )
    _reserve(cluster, now, new=True)
    return cluster


def rehold(*, cluster: Cluster, starts_at: datetime, ends_at: datetime, now: datetime) -> bool:
    """Hold a cluster whose hold has ended again, for a new span; False when its pool is sold out.

    A cluster that still holds its nodes moves to the new span. The caller confirms or ends the hold.
    """
    pool.lock(cluster.site_id, cluster.node_type_id)  # before the row: docs/locking.md
    row = Cluster.objects.select_for_update(of=("self",)).get(pk=cluster.pk)
    if row.status not in ("held", "cancelled"):
        return False
    try:
        with transaction.atomic():
            row.reservations.all().delete()
            row.starts_at, row.ends_at = starts_at, ends_at
            _reserve(row, now, new=False)
    except SoldOut:
        return False
    row.hold_expires_at = now + settings.HOLD_TIME
    row.status, row.state_since, row.message = "held", now, ""
    row.due_at = row.hold_expires_at + HOLD_OVERDUE
    row.save(
        update_fields=[
            "starts_at",
            "ends_at",
            "hold_expires_at",
            "status",
            "state_since",
            "due_at",
            "message",
        ]
    )
    cluster.refresh_from_db()
    return True


def confirm(*, cluster: Cluster, now: datetime) -> None:
    """Make a held cluster the customer's: it is set up when its start comes. Again is no harm."""
    started = cluster.starts_at <= now
    changed = Cluster.objects.filter(pk=cluster.pk, status="held").update(
        status="provisioning" if started else "scheduled",
        hold_expires_at=None,
        state_since=now,
        due_at=now if started else cluster.starts_at,
        attempts=0,
        message="",
    )
    cluster.refresh_from_db()
    if changed:
        events.record(cluster, "confirmed", now=now)
        dispatch.after_commit("clusters.step", cluster.pk)
    elif cluster.status == "cancelled":
        raise errors.InvalidState(
            _("The hold on these nodes has ended, so they can no longer be confirmed."),
            extra={"state": cluster.status},
        )


def cancel_hold(*, cluster: Cluster, reason: str, now: datetime) -> None:
    """Give the nodes of a cluster back that has not started. Again is no harm."""
    changed = Cluster.objects.filter(pk=cluster.pk, status__in=states.CLUSTER.before("cancelled")).update(
        status="cancelled", hold_expires_at=None, state_since=now, due_at=None, message=reason
    )
    cluster.refresh_from_db()
    if changed:
        cluster.reservations.all().delete()
        events.record(cluster, "cancelled", message=reason, now=now)
    elif cluster.status != "cancelled":
        raise errors.InvalidState(
            _("This cluster has started, so it cannot be cancelled."), extra={"state": cluster.status}
        )


def replace_node(*, cluster: Cluster, node: Node, token: str, now: datetime) -> Node | None:
    """Exchange a node that the cluster cannot get for one of the same domain; None when none is free.

    Only who holds the cluster by ``token`` may do so. The new node is taken from now to the turnaround's end.
    """
    start, end = max(now, cluster.starts_at), cluster.ends_at + settings.TURNAROUND
    with transaction.atomic():
        pool.lock(cluster.site_id, cluster.node_type_id)
        if not claims.owned(Cluster, cluster.pk, token).select_for_update().exists():
            return None
        free = pool.candidates(cluster.site, cluster.node_type, [node.fabric_domain], start, end)
        chosen = availability.tightest(free, [(node.fabric_domain, 1)])
        if not chosen:
            return None
        if not write(cluster, chosen, start, cluster.ends_at, now):
            return None
        cluster.reservations.filter(node=node).delete()
        fresh = Node.objects.get(pk=chosen[0])
        events.record(cluster, "node_replaced", message=f"{node.name} → {fresh.name}", now=now)
        return fresh


def expired_holds(
    site: Site, node_type: NodeType, start: datetime, end: datetime, now: datetime
) -> QuerySet[Cluster]:
    """Return held clusters whose time is up and that stand in the way of a booking in this span."""
    return Cluster.objects.filter(
        pk__in=Reservation.objects.filter(
            span__overlap=(start, end + settings.TURNAROUND),
            cluster__site=site,
            cluster__node_type=node_type,
            cluster__status="held",
            cluster__hold_expires_at__lte=now,
        ).values("cluster_id")
    ).order_by("id")


def _reserve(cluster: Cluster, now: datetime, *, new: bool) -> None:
    """Pick nodes and write the rows; the looking is done before the lock, and again under it if stale."""
    site, node_type = cluster.site, cluster.node_type
    picked = _pick(cluster)
    made = not new
    for _attempt in range(ATTEMPTS):
        if not picked:
            break
        with contextlib.closing(prepared.cursor()) as cursor:
            with prepared.together():
                if not made:
                    rows.insert(cluster)
                    made = True
                pool.lock(site.pk, node_type.pk)
                written = _write(cursor, cluster, picked, cluster.starts_at, cluster.ends_at, now)
            if _stands(cursor, written):
                return
        picked = _pick(cluster)
    if new and made:
        Cluster.objects.filter(pk=cluster.pk).delete()
    length = cluster.ends_at + settings.TURNAROUND - cluster.starts_at
    raise SoldOut(pool.next_start(site, node_type, cluster.nodes, length, max(now, cluster.starts_at)))


def _pick(cluster: Cluster) -> list[str]:
    """Return free nodes for the cluster and its turnaround, or nothing when they do not fit."""
    site, node_type = cluster.site, cluster.node_type
    start, end = cluster.starts_at, cluster.ends_at + settings.TURNAROUND
    if node_type.spans_domains:
        counts = pool.free_by_domain(site, node_type, start, end)
        domains = availability.choose_domains(counts, cluster.nodes, spans=True)
        free = pool.candidates(site, node_type, [domain for domain, _n in domains], start, end)
    else:
        free = pool.smallest_domain(site, node_type, cluster.nodes, start, end)
        domains = [(free[0].domain, cluster.nodes)] if free else []
    picked = availability.tightest(free, domains)
    return picked if len(picked) == cluster.nodes else []


def write(cluster: Cluster, nodes: list[str], start: datetime, end: datetime, now: datetime) -> bool:
    """Write the cluster's span and the turnaround after it for each node, under the pool's lock.

    All or nothing: False when a node was taken meanwhile, or is not available any more.
    """
    with prepared.cursor() as cursor:
        return _stands(cursor, _write(cursor, cluster, nodes, start, end, now))


def _write(
    cursor: CursorWrapper, cluster: Cluster, nodes: list[str], start: datetime, end: datetime, now: datetime
) -> list[str]:
    """Send one statement for all nodes; return the ids of the rows that should stand then."""
    until = end + settings.TURNAROUND
    kinds = [("cluster", start, end)]
    if until > end:
        kinds.append(("turnaround", end, until))
    spans = [(ids.new("rsv"), node, *kind) for node in sorted(nodes) for kind in kinds]
    columns = [list(column) for column in zip(*spans, strict=True)]
    cursor.execute(_WRITE, [cluster.pk, now, *columns])
    return [span[0] for span in spans]


def _stands(cursor: CursorWrapper, written: list[str]) -> bool:
    """Say whether all rows stand; if not, none does."""
    if cursor.rowcount == len(written):
        return True
    cursor.execute("DELETE FROM clusters_reservation WHERE id = ANY(%s)", [written])
    return False
