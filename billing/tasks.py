"""Tasks of money: hints right after a commit, and the beat's sweep of everything that waits."""

from celery import shared_task
from django.utils import timezone

from billing.services import due, payments, refunds, stripe_events


@shared_task(name="billing.process_due")
def process_due() -> None:
    """Process every row that waits."""
    due.run(now=timezone.now())


@shared_task(name="billing.drive_payment")
def drive_payment(payment_id: str) -> None:
    """Take one payment one step on."""
    payments.drive(payment_id=payment_id, now=timezone.now())


@shared_task(name="billing.drive_refund")
def drive_refund(refund_id: str) -> None:
    """Take one refund one step on."""
    refunds.drive(refund_id=refund_id, now=timezone.now())


@shared_task(name="billing.process_event")
def process_event(event_id: str) -> None:
    """Process one event of the payment provider."""
    stripe_events.process(event_id=event_id, now=timezone.now())
