"""What happens when money is here: ledger, cluster, invoice, all in the transaction of the payment."""

from datetime import datetime

from django.db.models import Q

from accounts.services import audit
from billing import periods, states
from billing.models import Order, Payment
from billing.services import holds, invoices, ledger, refunds, telling
from clusters.models import Cluster
from clusters.services import bookings
from core.actors import Actor

SYSTEM = Actor.system("Berth")


def settle(*, order: Order, payment: Payment, now: datetime) -> None:
    """Book money that came in for an order and give what it buys, or give it back.

    Runs inside the caller's transaction, which holds the rows of the order and then the payment.
    """
    ledger.post(
        organisation=order.organisation,
        kind="payment",
        once_key=f"payment:{payment.pk}:received",
        source=payment.pk,
        currency=payment.currency,
        sides=[("cash", payment.amount), ("receivable", -payment.amount)],
        now=now,
        method=payment.method,
    )
    if order.status == "pending":
        fulfil(order=order, now=now)
    elif order.status == "expired" and _rehold(order, now):
        order.message = "reheld"
        fulfil(order=order, now=now)
    elif order.status in ("expired", "cancelled"):
        reason = "paid_late" if order.status == "expired" else "paid_after_cancel"
        order.message = reason
        _move(order, "unfulfillable")
        order.save()
        refunds.reserve(payment=payment, amount=payment.amount, reason=reason, now=now)
        _audit(order, "order.unfulfillable", now)
        if reason == "paid_late":
            telling.tell(order, "order.unfulfillable", "bad", now=now)
    else:  # paid already, by another payment
        refunds.reserve(payment=payment, amount=payment.amount, reason="paid_twice", now=now)
        _audit(order, "order.paid_twice", now)


def fulfil(*, order: Order, now: datetime) -> None:
    """Mark an order paid, make its cluster the customer's and issue the invoice."""
    _move(order, "paid")
    order.paid_at, order.due_at, order.hold_expires_at = now, None, None
    order.save()
    bookings.confirm(cluster=_cluster(order), now=now)
    _move(order, "fulfilled")
    order.closed_at = now
    order.save()
    invoices.issue_paid(order=order, now=now)
    _stop_other_payments(order, now)
    _audit(order, "order.paid", now)
    telling.tell(order, "order.paid", "good", now=now)


def _rehold(order: Order, now: datetime) -> bool:
    """Hold the nodes again: from the moment of payment for the same term, or the booked window if ahead."""
    quote = order.quote
    start = now if quote.starts_now else max(now, quote.starts_at)
    end = periods.end(start, quote.term, quote.zone)
    holds.clear_expired(quote.site, quote.node_type, start, end, now=now, wait=False)
    return bookings.rehold(cluster=_cluster(order), starts_at=start, ends_at=end, now=now)


def _stop_other_payments(order: Order, now: datetime) -> None:
    """Have attempts that may still take money cancelled at the provider."""
    order.payments.filter(
        Q(status__in=("pending", "requires_action", "processing")) | Q(status="failed", method="stripe")
    ).update(due_at=now)


def _cluster(order: Order) -> Cluster:
    if order.cluster is None:
        raise ValueError(f"order {order.pk} buys no cluster")
    return order.cluster


def _move(order: Order, status: str) -> None:
    if not states.ORDER.allows(order.status, status):
        raise ValueError(f"order {order.pk}: {order.status} cannot become {status}")
    order.status = status


def _audit(order: Order, action: str, now: datetime) -> None:
    audit.record(
        actor=SYSTEM,
        action=action,
        target=order,
        organisation=order.organisation,
        after={"status": order.status, "message": order.message},
        now=now,
    )
