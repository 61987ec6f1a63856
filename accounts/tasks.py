"""Tasks of the beat and hints: each finds rows that wait."""

import logging

from celery import shared_task
from django.utils import timezone

from accounts.services import clean_up, mail

logger = logging.getLogger(__name__)


@shared_task(name="accounts.send_waiting_mail")
def send_waiting_mail() -> None:
    """Send mail that is due."""
    mail.send_waiting(now=timezone.now())


@shared_task(name="accounts.clean_up")
def clean_up_old_rows() -> None:
    """Delete old idempotency keys, sent mail and sessions."""
    logger.info("cleaned up", extra=clean_up.run(now=timezone.now()))
