"""Ends holds: only this floor does, because it alone knows whether money may still come."""

from datetime import datetime

from django.conf import settings
from django.db import connection
from django.db.models import Q
from django.utils.translation import ngettext

from accounts.models import Organisation
from accounts.services import audit
from billing.models import Order
from billing.services import telling
from clusters.models import NodeType, Site
from clusters.services import bookings
from core import errors
from core.actors import Actor


class TooManyHolds(errors.Conflict):
    """An organisation keeps more nodes from others than it may without paying."""

    code = "too_many_holds"


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


def check_room(organisation: Organisation, *, now: datetime) -> None:
    """Raise TooManyHolds when the organisation holds nodes with as many unpaid orders as one may have.

    The lock of the transaction makes rivals of one organisation wait for each other, so that none of them
    is counted too early.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"holds:{organisation.pk}"])
    unpaid = Order.objects.for_org(organisation).filter(status="pending", hold_expires_at__gt=now)
    if unpaid.count() >= settings.OPEN_ORDERS_MOST:
        raise TooManyHolds(
            ngettext(
                "Your organisation already holds nodes with {most} unpaid order. Pay or cancel it first.",
                "Your organisation already holds nodes with {most} unpaid orders. "
                "Pay or cancel one of them first.",
                settings.OPEN_ORDERS_MOST,
            ).format(most=settings.OPEN_ORDERS_MOST)
        )


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
