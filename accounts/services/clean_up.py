"""Deletes what has had its time; each query uses an index or a small table."""

from datetime import datetime, timedelta

from django.contrib.sessions.backends.cached_db import SessionStore

from accounts.models import MailMessage
from accounts.services import idempotency

MAIL_KEPT = timedelta(days=30)


def run(*, now: datetime) -> dict[str, int]:
    """Return how many rows of each kind were deleted."""
    old_mail = MailMessage.objects.exclude(state="waiting").filter(created_at__lte=now - MAIL_KEPT)
    SessionStore.clear_expired()
    return {"idempotency_keys": idempotency.clean_up(now=now), "mail": old_mail.delete()[0]}
