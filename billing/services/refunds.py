"""Gives money back: the amount is reserved on the payment first, the provider is called after."""

import logging
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext as _

from billing.gateways import port, registry
from billing.models import Order, Payment, Refund
from billing.services import calls, ledger
from core import claims, dispatch, errors

logger = logging.getLogger(__name__)
LONGEST_PAUSE = timedelta(hours=1)


def reserve(*, payment: Payment, amount: int, reason: str, now: datetime) -> Refund:
    """Write a refund row and reserve its amount; once per payment and reason. Raises Conflict.

    Runs inside the caller's transaction. The conditional update is the guard: two refunds at once can
    never exceed the payment, whatever the provider would accept.
    """
    if (existing := Refund.objects.filter(payment=payment, reason=reason).first()) is not None:
        return existing
    reserved = Payment.objects.filter(
        pk=payment.pk, status="succeeded", refunded__lte=F("amount") - amount
    ).update(refunded=F("refunded") + amount)
    if not reserved:
        raise errors.Conflict(
            _("The refund is larger than what is left of the payment."), code="refund_exceeds_payment"
        )
    refund = Refund.objects.create(
        organisation=payment.organisation,
        payment=payment,
        amount=amount,
        reason=reason,
        due_at=now,
        created_at=now,
    )
    _post(refund, "reserved", [("receivable", amount), ("refunds", -amount)], now)
    dispatch.after_commit("billing.drive_refund", refund.pk)
    return refund


def drive(*, refund_id: str, now: datetime) -> None:
    """Take a refund one step on: claim, call the provider, apply what it says."""
    waiting = Refund.objects.filter(pk=refund_id, status__in=("pending", "processing"))
    token = claims.take(waiting, now=now, seconds=calls.CLAIM_SECONDS)
    if token is None:
        return
    refund = Refund.objects.select_related("payment").get(pk=refund_id)
    Refund.objects.filter(pk=refund_id, claim_token=token).update(attempts=F("attempts") + 1)
    gateway = registry.gateway(refund.payment.method)
    try:
        if refund.provider_id:
            result = gateway.retrieve_refund(calls.give_back(refund))
        else:
            result = gateway.refund(calls.give_back(refund))
    except port.GatewayError as error:
        logger.warning("refund not done yet", extra={"refund": refund_id, "code": error.code})
        if error.retryable:
            pause = calls.pause(refund.attempts, LONGEST_PAUSE)
            changes = {"due_at": now + pause, "failure_message": str(error)[:300]}
            claims.give_back(Refund, refund_id, token, **changes)
            return
        result = port.Result(
            "failed",
            refund.provider_id,
            refund.amount,
            refund.payment.currency,
            failure_message=str(error)[:300],
        )
    apply(refund_id=refund_id, result=result, now=now)


def apply(*, refund_id: str, result: port.Result, now: datetime) -> None:
    """Record where a refund stands, whoever asked: the same answer twice changes nothing."""
    with transaction.atomic():
        order_id = Refund.objects.values_list("payment__order_id", flat=True).get(pk=refund_id)
        order = Order.objects.select_for_update().get(pk=order_id)
        payment = Payment.objects.select_for_update(of=("self",)).get(refunds=refund_id)
        refund = Refund.objects.select_for_update().get(pk=refund_id)
        if refund.status in ("succeeded", "failed"):
            if result.status != refund.status:  # a bank sent the money back: people must see to it
                logger.error("a settled refund changed", extra={"refund": refund_id, "to": result.status})
            return
        refund.provider_id = result.provider_id or refund.provider_id
        refund.claim_token, refund.claim_until = "", None
        if result.status == "succeeded":
            _succeed(refund, payment, order, now)
        elif result.status == "failed":
            _fail(refund, payment, result, now)
        else:
            refund.status = "processing"
            refund.due_at = now + calls.pause(refund.attempts, LONGEST_PAUSE)
        refund.save()


def _succeed(refund: Refund, payment: Payment, order: Order, now: datetime) -> None:
    refund.status, refund.settled_at, refund.due_at, refund.failure_message = "succeeded", now, None, ""
    _post(refund, "paid", [("refunds", refund.amount), ("cash", -refund.amount)], now)
    done = sum(row.amount for row in payment.refunds.filter(status="succeeded").exclude(pk=refund.pk))
    if done + refund.amount == payment.amount:
        payment.status = "refunded"
        payment.save(update_fields=["status"])
    if order.status == "unfulfillable" and payment.status == "refunded" and refund.reason != "paid_twice":
        order.status = "refunded"
        order.save(update_fields=["status"])


def _fail(refund: Refund, payment: Payment, result: port.Result, now: datetime) -> None:
    """The provider gave up: the money is still ours to return, so people must see to it."""
    refund.status, refund.settled_at, refund.due_at = "failed", now, None
    refund.failure_message = result.failure_message or result.failure_code
    Payment.objects.filter(pk=payment.pk).update(refunded=F("refunded") - refund.amount)
    _post(refund, "failed", [("refunds", refund.amount), ("receivable", -refund.amount)], now)
    logger.error("refund failed at the provider", extra={"refund": refund.pk, "payment": payment.pk})


def _post(refund: Refund, step: str, sides: list[ledger.Side], now: datetime) -> None:
    ledger.post(
        organisation=refund.organisation,
        kind=f"refund_{step}",
        once_key=f"refund:{refund.pk}:{step}",
        source=refund.pk,
        currency=refund.payment.currency,
        sides=sides,
        now=now,
        method=refund.payment.method,
    )
