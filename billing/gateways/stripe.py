"""Stripe: PaymentIntents with our payment's id as idempotency key. The only module that imports its SDK."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import stripe
from django.conf import settings

from billing.gateways.port import Charge, GatewayError, GiveBack, Result

TIMEOUT = (3.05, 15)  # seconds to connect, to answer
INTENT_STATUS = {
    "requires_payment_method": "requires_action",
    "requires_confirmation": "requires_action",
    "requires_action": "requires_action",
    "requires_capture": "processing",
    "processing": "processing",
    "succeeded": "succeeded",
    "canceled": "failed",
}
REFUND_STATUS = {
    "pending": "processing",
    "requires_action": "processing",
    "succeeded": "succeeded",
    "failed": "failed",
    "canceled": "failed",
}


class BadEvent(Exception):
    """A webhook body that Stripe did not sign, or that is meant for another account or mode."""


@dataclass(frozen=True, slots=True)
class Event:
    """What we keep of a verified event: never the secrets that its object holds."""

    id: str
    type: str
    object_id: str
    kept: dict[str, Any]


class StripeGateway:
    """Takes cards through Stripe. The customer's card data never reach us."""

    def start(self, charge: Charge) -> Result:
        """Make the intent that the payment page confirms."""
        with _our_errors():
            intent = _client().v1.payment_intents.create(
                params={
                    "amount": charge.amount,
                    "currency": charge.currency.lower(),
                    "payment_method_types": ["card"],
                    "metadata": {
                        "payment": charge.id,
                        "order": charge.order,
                        "organisation": charge.organisation,
                    },
                },
                options={"idempotency_key": charge.id},
            )
        return _intent_result(intent)

    def retrieve(self, charge: Charge) -> Result:
        """Read the intent."""
        return _intent_result(self._read(charge))

    def cancel(self, charge: Charge) -> Result:
        """Cancel the intent; when it is past cancelling, return where it stands."""
        if charge.provider_id is None:  # an answer was lost: the same key brings the same intent
            charge = replace(charge, provider_id=self.start(charge).provider_id)
        try:
            with _our_errors():
                intent = _client().v1.payment_intents.cancel(
                    str(charge.provider_id), options={"idempotency_key": f"{charge.id}-cancel"}
                )
        except GatewayError as error:
            if error.retryable:
                raise
            return self.retrieve(charge)
        return _intent_result(intent)

    def refund(self, back: GiveBack) -> Result:
        """Refund a part of an intent; a repeat first looks whether the earlier call arrived."""
        if back.repeated and (found := self._find_refund(back)) is not None:
            return _refund_result(found)
        with _our_errors():
            refund = _client().v1.refunds.create(
                params={
                    "payment_intent": str(back.charge.provider_id),
                    "amount": back.amount,
                    "metadata": {"refund": back.id, "payment": back.charge.id},
                },
                options={"idempotency_key": back.id},
            )
        return _refund_result(refund)

    def retrieve_refund(self, back: GiveBack) -> Result:
        """Read the refund."""
        with _our_errors():
            return _refund_result(_client().v1.refunds.retrieve(str(back.provider_id)))

    def _read(self, charge: Charge) -> Any:
        with _our_errors():
            intent = _client().v1.payment_intents.retrieve(str(charge.provider_id))
        if getattr(intent.metadata, "payment", None) != charge.id:
            raise GatewayError("the intent belongs to another payment", code="mismatch", retryable=False)
        return intent

    def _find_refund(self, back: GiveBack) -> Any | None:
        with _our_errors():
            listed = _client().v1.refunds.list(params={"payment_intent": str(back.charge.provider_id)})
            for refund in listed.auto_paging_iter():
                if getattr(refund.metadata, "refund", None) == back.id:
                    return refund
        return None


def read_event(body: bytes, signature: str) -> Event:
    """Verify a webhook body and return what we keep of it; raises BadEvent."""
    try:
        stripe.WebhookSignature.verify_header(body, signature, settings.STRIPE_WEBHOOK_SECRET, tolerance=300)
        event = json.loads(body)
        subject = event["data"]["object"]
        kept = {
            "created": event["created"],
            "object": str(subject["object"]),
            "metadata": dict(subject.get("metadata") or {}),
        }
        found = Event(str(event["id"]), str(event["type"]), str(subject.get("id") or ""), kept)
        live, account = event["livemode"], event.get("account")
    except stripe.SignatureVerificationError as error:
        raise BadEvent("the signature does not match") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadEvent("the body is not an event") from error
    if bool(live) is not is_live():
        raise BadEvent("the event is of the other mode (live or test)")
    if account:
        raise BadEvent("the event is of another account")
    return found


def is_live() -> bool:
    """Say whether our key moves real money."""
    return "_live_" in settings.STRIPE_SECRET_KEY[:9]


def _client() -> Any:
    return _make_client(settings.STRIPE_SECRET_KEY, settings.STRIPE_API_BASE)


@cache
def _make_client(key: str, base: str) -> Any:
    return stripe.StripeClient(
        key,
        base_addresses={"api": base} if base else None,
        max_network_retries=1,
        http_client=stripe.RequestsClient(timeout=TIMEOUT),
    )


@contextmanager
def _our_errors() -> Iterator[None]:
    """Turn errors of the SDK into ours: trouble on the way is worth a repeat, a refusal is not."""
    try:
        yield
    except stripe.StripeError as error:
        status = error.http_status or 0
        ours = isinstance(error, (stripe.AuthenticationError, stripe.PermissionError))  # a key to mend
        away = isinstance(error, stripe.APIConnectionError) or status in (409, 429) or status >= 500
        code = str(error.code or type(error).__name__)[:60]
        message = str(error.user_message or code)
        raise GatewayError(message, code=code, retryable=away or ours) from error


def _intent_result(intent: Any) -> Result:
    status = INTENT_STATUS.get(intent.status, "processing")
    code = message = ""
    fault = getattr(intent, "last_payment_error", None)
    if intent.status == "canceled":
        code = "cancelled"
    elif intent.status == "requires_payment_method" and fault:
        status = "failed"
        code = str(getattr(fault, "decline_code", None) or getattr(fault, "code", None) or "declined")
        message = str(getattr(fault, "message", None) or "")
    return Result(
        status=status,
        provider_id=str(intent.id),
        amount=int(intent.amount),
        currency=str(intent.currency).upper(),
        client_secret=str(getattr(intent, "client_secret", None) or ""),
        failure_code=code[:60],
        failure_message=message[:300],
    )


def _refund_result(refund: Any) -> Result:
    return Result(
        status=REFUND_STATUS.get(str(refund.status), "processing"),
        provider_id=str(refund.id),
        amount=int(refund.amount),
        currency=str(refund.currency).upper(),
        failure_code=str(getattr(refund, "failure_reason", None) or "")[:60],
    )
