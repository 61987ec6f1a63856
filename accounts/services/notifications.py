"""Notifications: a row for the portal and messages for those who should hear by mail."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from accounts import notices, reads
from accounts.models import Member, Notification, NotificationRead, Organisation, User
from accounts.services import mail


def notify(
    *,
    organisation: Organisation,
    kind: str,
    severity: str,
    params: Mapping[str, Any],
    link: str,
    once_key: str,
    user: User | None = None,
    mail_to_roles: Sequence[str] = (),
    now: datetime,
) -> None:
    """Tell an organisation, or one person of it; the same ``once_key`` tells once.

    ``kind`` is a row of accounts/notices.py and ``params`` fill its sentences; ``link`` is a path of the
    portal. Members with one of ``mail_to_roles`` get a message too, in their language.
    """
    notices.check(kind, params)
    if severity not in notices.SEVERITIES:
        raise ValueError(f"unknown severity {severity!r}")
    with transaction.atomic():
        Notification.objects.bulk_create(
            [
                Notification(
                    organisation=organisation,
                    user=user,
                    kind=kind,
                    severity=severity,
                    params=dict(params),
                    link=link,
                    once_key=once_key,
                    created_at=now,
                )
            ],
            ignore_conflicts=True,
        )
        for reader in _mail_readers(organisation, user, mail_to_roles):
            with mail.language_of(reader):
                title, text = notices.render(kind, params)
                body = _("{text}\n\n{address}\n\n{organisation}, Berth").format(
                    text=text, address=settings.PUBLIC_URL + link, organisation=organisation.name
                )
            mail.write(to=reader.email, subject=title, body=body, once_key=f"{once_key}:{reader.pk}", now=now)


def read_all(*, organisation: Organisation, user: User) -> None:
    """Note that a person has seen everything there is now."""
    last = reads.notifications(organisation, user).order_by("-pk").values_list("pk", flat=True).first()
    if last:
        NotificationRead.objects.update_or_create(
            organisation=organisation, user=user, defaults={"last_id": last}
        )


def _mail_readers(organisation: Organisation, user: User | None, roles: Sequence[str]) -> list[User]:
    if not roles:
        return []
    members = Member.objects.for_org(organisation).filter(role__in=roles, user__is_active=True)
    if user is not None:
        members = members.filter(user=user)
    return [member.user for member in members.select_related("user").order_by("pk")]
