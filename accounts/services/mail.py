"""Mail: written as rows together with the event, sent by a worker, tried again with backoff."""

import logging
import smtplib
from datetime import datetime, timedelta

from django.conf import settings
from django.core.mail import EmailMessage
from django.utils import translation

from accounts.models import MailMessage, User
from core import claims, dispatch

logger = logging.getLogger(__name__)
CLAIM_SECONDS = 60
FIRST_PAUSE = timedelta(minutes=1)
LONGEST_PAUSE = timedelta(hours=6)
MOST_ATTEMPTS = 12  # two days
BATCH = 50


def write(*, to: str, subject: str, body: str, once_key: str, now: datetime) -> None:
    """Write a message into the caller's transaction; the same ``once_key`` writes once."""
    MailMessage.objects.bulk_create(
        [
            MailMessage(
                to=to,
                subject=" ".join(subject.split())[:200],
                body=body,
                once_key=once_key,
                due_at=now,
                created_at=now,
            )
        ],
        ignore_conflicts=True,
    )
    dispatch.after_commit("accounts.send_waiting_mail")


def language_of(user: User | None) -> translation.override:
    """Return a context in which texts are in a reader's language."""
    return translation.override((user.language if user else "") or settings.LANGUAGE_CODE)


def send_waiting(*, now: datetime) -> int:
    """Send what is due, at most a batch; return how many left."""
    due = MailMessage.objects.filter(claims.free(now), state="waiting", due_at__lte=now)
    return sum(send(pk, now=now) for pk in due.order_by("due_at").values_list("pk", flat=True)[:BATCH])


def send(pk: str, *, now: datetime) -> bool:
    """Send one message unless somebody else does; False when it stays."""
    rows = MailMessage.objects.filter(pk=pk, state="waiting", due_at__lte=now)
    token = claims.take(rows, now=now, seconds=CLAIM_SECONDS)
    if token is None:
        return False
    message = MailMessage.objects.get(pk=pk)
    try:
        EmailMessage(message.subject, message.body, settings.DEFAULT_FROM_EMAIL, [message.to]).send()
    except (smtplib.SMTPException, OSError) as error:
        _failed(message, token, error, now)
        return False
    # A link in the text may hold a secret: what was sent is not kept.
    claims.give_back(MailMessage, pk, token, state="sent", sent_at=now, last_error="", body="")
    return True


def _failed(message: MailMessage, token: str, error: Exception, now: datetime) -> None:
    attempts = message.attempts + 1
    pause = min(FIRST_PAUSE * 2 ** (attempts - 1), LONGEST_PAUSE)
    final = attempts >= MOST_ATTEMPTS or isinstance(error, smtplib.SMTPRecipientsRefused)
    logger.warning("mail not sent", extra={"mail": message.pk, "attempts": attempts, "error": str(error)})
    claims.give_back(
        MailMessage,
        message.pk,
        token,
        state="failed" if final else "waiting",
        attempts=attempts,
        due_at=now + pause,
        last_error=str(error)[:300],
    )
