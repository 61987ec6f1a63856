"""The guarantee: finds every row of money that waits, whatever was lost, and takes each one step on."""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.db.models import QuerySet

from billing.models import Order, Payment, PaymentEvent, Refund
from billing.services import orders, payments, refunds, stripe_events
from core import claims

logger = logging.getLogger(__name__)
BATCH = 200
AFTER_FAULT = timedelta(minutes=1)


def run(*, now: datetime) -> int:
    """Process what is due, in batches by index; return how many rows were looked at.

    Events and payments come before holds, so that money that is here is not mistaken for late.
    """
    return (
        _each(_claimable(PaymentEvent, now), lambda pk: stripe_events.process(event_id=pk, now=now), now)
        + _each(_claimable(Payment, now), lambda pk: payments.drive(payment_id=pk, now=now), now)
        + _each(_due(Order, now), lambda pk: orders.expire(order_id=pk, now=now), now)
        + _each(_claimable(Refund, now), lambda pk: refunds.drive(refund_id=pk, now=now), now)
    )


def _due(model: Any, now: datetime) -> QuerySet[Any]:
    rows: QuerySet[Any] = model.objects.filter(due_at__lte=now).order_by("due_at")
    return rows


def _claimable(model: Any, now: datetime) -> QuerySet[Any]:
    return _due(model, now).filter(claims.free(now))


def _each(rows: QuerySet[Any], step: Callable[[str], None], now: datetime) -> int:
    """Take a step for each row; one that breaks is put off, so that it never blocks the others."""
    found = list(rows.values_list("pk", flat=True)[:BATCH])
    for pk in found:
        try:
            step(pk)
        except Exception:
            logger.exception("a due row could not be processed", extra={"row": pk})
            rows.model.objects.filter(pk=pk, due_at__lte=now).update(due_at=now + AFTER_FAULT)
    return len(found)
