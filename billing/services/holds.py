"""Ends holds: only this floor does, because it alone knows whether money may still come."""

from datetime import datetime

from django.db.models import Q

from accounts.services import audit
from billing.models import Order
from billing.services import telling
from clusters.models import NodeType, Site
from clusters.services import bookings
from core.actors import Actor


def clear_expired(
    site: Site, node_type: NodeType, start: datetime, end: datetime, *, now: datetime, wait: bool
) -> None:
    """End holds whose time is up and that stand in the way of a booking.

    Locks their orders in the order of ids. A caller that already holds an order's lock must not ``wait``
    for others: an order that somebody else is working on is then left alone.
    """
    clusters = bookings.expired_holds(site, node_type, start, end, now)
    rows = Order.objects.select_for_update(skip_locked=not wait, of=("self",))
    found = rows.filter(cluster__in=list(clusters), status="pending").order_by("pk")
    for order in found.select_related("cluster"):
        end_hold(order, "expired", "hold_ended", actor=Actor.system("Berth"), now=now)


def end_hold(order: Order, status: str, message: str, *, actor: Actor, now: datetime) -> None:
    """Close a pending order whose row is locked: nodes are freed, payments cancelled at the provider."""
    order.status, order.message, order.closed_at, order.due_at = status, message, now, None
    order.save(update_fields=["status", "message", "closed_at", "due_at"])
    if order.cluster is not None:
        bookings.cancel_hold(cluster=order.cluster, reason=_cluster_reason(status), now=now)
    order.payments.filter(
        Q(status__in=("pending", "requires_action", "processing")) | Q(status="failed", method="stripe")
    ).update(due_at=now)
    audit.record(
        actor=actor,
        action=f"order.{status}",
        target=order,
        organisation=order.organisation,
        before={"status": "pending"},
        after={"status": status},
        now=now,
    )
    if status == "expired":
        telling.tell(order, "order.expired", "attention", now=now)


def _cluster_reason(status: str) -> str:
    """Return the code of clusters/words.py that the customer reads in his language."""
    return "hold_expired" if status == "expired" else "order_cancelled"
