"""What calls to a gateway share: our rows in its words, and how long to wait before the next look."""

from datetime import timedelta

from billing.gateways import port
from billing.models import Payment, Refund

CLAIM_SECONDS = 60
FIRST_PAUSE = timedelta(seconds=15)
LONGEST_PAUSE = timedelta(minutes=10)


def charge(payment: Payment) -> port.Charge:
    """Return the gateway's view of a payment."""
    return port.Charge(
        id=payment.pk,
        order=payment.order_id,
        organisation=payment.organisation_id,
        amount=payment.amount,
        currency=payment.currency,
        provider_id=payment.provider_id,
        options=payment.options,
    )


def give_back(refund: Refund) -> port.GiveBack:
    """Return the gateway's view of a refund; ``attempts`` counts the calls before this one."""
    return port.GiveBack(
        id=refund.pk,
        charge=charge(refund.payment),
        amount=refund.amount,
        provider_id=refund.provider_id,
        repeated=refund.attempts > 0,
    )


def pause(attempts: int, longest: timedelta = LONGEST_PAUSE) -> timedelta:
    """Return how long to wait before the next look: doubling, up to a limit."""
    doubled: timedelta = FIRST_PAUSE * 2 ** min(attempts, 12)
    return min(doubled, longest)
