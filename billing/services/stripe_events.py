"""Stripe's events: stored first, processed after by reading the object again. Late, twice, in any order."""

import logging
from datetime import datetime

from django.db import transaction
from django.db.models import F

from billing.gateways import port, registry
from billing.gateways.stripe import Event
from billing.models import Payment, PaymentEvent, Refund
from billing.services import calls, payments, refunds
from core import claims, dispatch

logger = logging.getLogger(__name__)
PROVIDER = "stripe"
INTENT_EVENTS = frozenset(
    f"payment_intent.{word}"
    for word in ("succeeded", "payment_failed", "processing", "requires_action", "canceled")
)
REFUND_EVENTS = frozenset({"refund.created", "refund.updated", "refund.failed", "charge.refund.updated"})
MAX_ATTEMPTS = 20


def store(*, event: Event, now: datetime) -> None:
    """Keep a verified event under its unique id, nothing else; one that is here already is left as it is."""
    known = event.type in INTENT_EVENTS or event.type in REFUND_EVENTS
    row = PaymentEvent(
        provider=PROVIDER,
        provider_event_id=event.id,
        type=event.type[:100],
        object_id=event.object_id[:100],
        payload=event.kept,
        status="received" if known else "ignored",
        due_at=now if known else None,
        received_at=now,
        processed_at=None if known else now,
    )
    with transaction.atomic():
        PaymentEvent.objects.bulk_create([row], ignore_conflicts=True)
        if known:
            dispatch.after_commit("billing.process_event", row.pk)


def process(*, event_id: str, now: datetime) -> None:
    """Read what the event is about from Stripe and apply it; quietly does nothing when that was done."""
    waiting = PaymentEvent.objects.filter(pk=event_id, status="received")
    token = claims.take(waiting, now=now, seconds=calls.CLAIM_SECONDS)
    if token is None:
        return
    event = PaymentEvent.objects.get(pk=event_id)
    PaymentEvent.objects.filter(pk=event_id, claim_token=token).update(attempts=F("attempts") + 1)
    try:
        status = _process_refund(event, now) if event.type in REFUND_EVENTS else _process_intent(event, now)
    except port.GatewayError as error:
        _postpone(event, token, error, now)
        return
    claims.give_back(PaymentEvent, event_id, token, status=status, due_at=None, processed_at=now)


def _process_intent(event: PaymentEvent, now: datetime) -> str:
    payment = Payment.objects.filter(method=PROVIDER, provider_id=event.object_id).first()
    if payment is None:  # the answer that brought the provider's id was lost: ours is in the metadata
        named = str(event.payload["metadata"].get("payment", ""))
        payment = Payment.objects.filter(method=PROVIDER, provider_id=None, pk=named).first()
    if payment is None:
        return "ignored"
    payment.provider_id = event.object_id
    result = registry.gateway(PROVIDER).retrieve(calls.charge(payment))
    payments.apply(payment_id=payment.pk, result=result, now=now)
    return "processed"


def _process_refund(event: PaymentEvent, now: datetime) -> str:
    rows = Refund.objects.filter(payment__method=PROVIDER).select_related("payment")
    refund = rows.filter(provider_id=event.object_id).first()
    if refund is None:
        named = str(event.payload["metadata"].get("refund", ""))
        refund = rows.filter(provider_id=None, pk=named).first()
    if refund is None:
        return "ignored"
    refund.provider_id = event.object_id
    result = registry.gateway(PROVIDER).retrieve_refund(calls.give_back(refund))
    refunds.apply(refund_id=refund.pk, result=result, now=now)
    return "processed"


def _postpone(event: PaymentEvent, token: str, error: port.GatewayError, now: datetime) -> None:
    """Try again later; an event that keeps failing is left for people, the beat still polls its payment."""
    changes = {"last_error": f"{error.code}: {error}"[:300]}
    if not error.retryable or event.attempts + 1 >= MAX_ATTEMPTS:
        logger.error("payment event failed", extra={"event": event.pk, "code": error.code})
        claims.give_back(PaymentEvent, event.pk, token, status="failed", due_at=None, **changes)
        return
    claims.give_back(PaymentEvent, event.pk, token, due_at=now + calls.pause(event.attempts), **changes)
