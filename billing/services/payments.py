"""Takes payments one step on: claim the row, talk to the gateway outside, apply what it says once."""

import logging
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext as _

from billing import states
from billing.gateways import port, registry
from billing.models import Order, Payment
from billing.services import calls, settlement, telling
from core import claims, errors, resealing, sealing

logger = logging.getLogger(__name__)
TAKEN = ("succeeded", "refunded")


def check_method(method: str, options: dict[str, Any]) -> None:
    """Raise Invalid for a method that this installation does not take, or options it does not know."""
    if method not in registry.methods():
        detail = _("Payment by {method} is not possible here. Choose from: {methods}.").format(
            method=method, methods=", ".join(registry.methods()) or _("none is set up")
        )
        raise errors.Invalid(
            detail,
            code="unsupported_method",
            errors=[errors.FieldError("payment.method", "unsupported_method", detail)],
        )
    outcome = options.get("outcome", "succeeded")
    if outcome not in registry.OUTCOMES or (options and method != "test"):
        raise errors.Invalid.field(
            "payment.outcome", "unknown", _("Only the test method plays an outcome, and not this one.")
        )


def create(
    *, order: Order, method: str, options: dict[str, Any], idempotency_key: str | None, now: datetime
) -> Payment:
    """Write a payment row inside the caller's transaction.

    The caller drives it right after its commit, so that its answer says where the payment stands; no hint
    is sent that a worker could win. The beat takes it when the caller dies before that.
    """
    return Payment.objects.create(
        organisation=order.organisation,
        order=order,
        method=method,
        options=options,
        currency=order.currency,
        amount=order.total,
        idempotency_key=idempotency_key,
        due_at=now + calls.FIRST_PAUSE,
        created_at=now,
    )


def drive(*, payment_id: str, now: datetime) -> None:
    """Take a payment one step on; quietly does nothing when it is done or somebody else has it."""
    waiting = Payment.objects.filter(pk=payment_id).exclude(status__in=TAKEN)
    token = claims.take(waiting, now=now, seconds=calls.CLAIM_SECONDS)
    if token is None:
        return
    payment = Payment.objects.select_related("order").get(pk=payment_id)
    Payment.objects.filter(pk=payment_id, claim_token=token).update(attempts=F("attempts") + 1)
    try:
        result = _ask(payment)
    except port.GatewayError as error:
        logger.warning("gateway error", extra={"payment": payment_id, "code": error.code})
        if error.retryable or (payment.provider_id and payment.order.status == "pending"):
            claims.give_back(Payment, payment_id, token, due_at=now + calls.pause(payment.attempts))
            return
        result = port.Result(
            "failed",
            payment.provider_id,
            payment.amount,
            payment.currency,
            failure_code=error.code,
            failure_message=str(error)[:300],
        )
    apply(payment_id=payment_id, result=result, token=token, now=now)


def refresh(*, payment_id: str, now: datetime) -> None:
    """Read where a payment stands at once, for a customer who waits for it; never cancels anything."""
    payment = Payment.objects.get(pk=payment_id)
    if payment.provider_id is None or payment.status in TAKEN:
        return
    try:
        result = registry.gateway(payment.method).retrieve(calls.charge(payment))
    except port.GatewayError as error:
        logger.warning("gateway error", extra={"payment": payment_id, "code": error.code})
        return
    apply(payment_id=payment_id, result=result, now=now)


def apply(*, payment_id: str, result: port.Result, token: str = "", now: datetime) -> None:
    """Record where a payment stands, whoever asked: worker, web or event, late, twice, in any order."""
    with transaction.atomic():
        rows = Order.objects.select_for_update(of=("self",)).select_related("organisation", "cluster")
        order = rows.get(payments=payment_id)
        payment = Payment.objects.select_for_update().get(pk=payment_id)
        if token and payment.claim_token == token:
            payment.claim_token, payment.claim_until = "", None
        if payment.status in TAKEN:
            payment.save(update_fields=["claim_token", "claim_until"])
            return
        payment.provider_id = result.provider_id or payment.provider_id
        if result.client_secret:
            payment.client_secret = sealing.seal(
                result.client_secret.encode(), context=_seal_context(payment)
            )
        if result.status == "succeeded" and (result.amount, result.currency) != (
            payment.amount,
            payment.currency,
        ):
            logger.error("amount differs at the provider", extra={"payment": payment.pk})
            payment.failure_code, payment.due_at = "amount_mismatch", None
        elif result.status == "succeeded":
            payment.status, payment.settled_at, payment.due_at = "succeeded", now, None
            payment.failure_code = payment.failure_message = ""
        elif result.status == "failed":
            payment.status, payment.due_at = "failed", None
            payment.failure_code, payment.failure_message = result.failure_code, result.failure_message
            if order.status == "pending":
                once = f"payment.failed:{payment.pk}"
                telling.tell(order, "payment.failed", "attention", once_key=once, now=now)
        elif states.PAYMENT.allows(payment.status, result.status) or payment.status == result.status:
            payment.status = result.status
            payment.due_at = now + calls.pause(payment.attempts) if order.status == "pending" else now
        payment.save()
        if payment.status == "succeeded":
            settlement.settle(order=order, payment=payment, now=now)


def client_secret(payment: Payment) -> str | None:
    """Return what the payment page needs to confirm the payment; None when there is nothing to confirm."""
    if not payment.client_secret or payment.status in TAKEN:
        return None
    return sealing.unseal(payment.client_secret, context=_seal_context(payment)).decode()


def reseal() -> int:
    """Seal client secrets anew that an older key sealed; return how many."""
    return resealing.rows(Payment.objects.all(), "client_secret", _seal_context)


def _ask(payment: Payment) -> port.Result:
    gateway = registry.gateway(payment.method)
    wanted = calls.charge(payment)
    if payment.order.status != "pending" or payment.status == "failed":
        if payment.provider_id is None and payment.attempts == 0:  # the provider never heard of it
            return port.Result("failed", None, payment.amount, payment.currency, failure_code="cancelled")
        return gateway.cancel(wanted)
    if payment.provider_id is None:
        return gateway.start(wanted)
    return gateway.retrieve(wanted)


def _seal_context(payment: Payment) -> str:
    return f"payment:{payment.pk}:client_secret"
