"""Queries of people that pages and the API share; each reaches rows through the organisation or person."""

from datetime import datetime

from django.db.models import Q, QuerySet

from accounts.models import (
    AuditEntry,
    Invitation,
    Member,
    Notification,
    NotificationRead,
    Organisation,
    Token,
    User,
)


def memberships(user: User) -> list[Member]:
    """Return a person's memberships with their organisations, oldest first: one query."""
    members = list(Member.objects.filter(user=user).select_related("organisation").order_by("pk"))
    for member in members:
        member.user = user
    return members


def members(organisation: Organisation) -> QuerySet[Member]:
    """Return the people of an organisation."""
    return Member.objects.for_org(organisation).select_related("user")


def open_invitations(organisation: Organisation) -> QuerySet[Invitation]:
    """Return the invitations that nobody accepted or withdrew."""
    rows: QuerySet[Invitation] = Invitation.objects.for_org(organisation)
    return rows.filter(accepted_at=None, revoked_at=None)


def tokens(member: Member, *, everyone: bool) -> QuerySet[Token]:
    """Return tokens that are not revoked: the member's own, or everyone's for an admin."""
    rows: QuerySet[Token] = Token.objects.for_org(member.organisation).select_related("member__user")
    return rows.filter(revoked_at=None) if everyone else rows.filter(revoked_at=None, member=member)


def audit(
    organisation: Organisation,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    actor: str = "",
    action: str = "",
) -> QuerySet[AuditEntry]:
    """Return the audit rows of an organisation; ``actor`` is an id of a user or token, or a label."""
    rows: QuerySet[AuditEntry] = AuditEntry.objects.for_org(organisation)
    if since is not None:
        rows = rows.filter(at__gte=since)
    if until is not None:
        rows = rows.filter(at__lt=until)
    if actor:
        rows = rows.filter(Q(user_id=actor) | Q(token_id=actor) | Q(actor_label=actor))
    return rows.filter(action=action) if action else rows


def notifications(organisation: Organisation, user: User) -> QuerySet[Notification]:
    """Return what this person is told in an organisation."""
    rows: QuerySet[Notification] = Notification.objects.for_org(organisation)
    return rows.filter(Q(user=None) | Q(user=user))


def read_up_to(organisation: Organisation, user: User) -> str:
    """Return the id of the last notification that this person has read; empty when none."""
    row = NotificationRead.objects.filter(organisation=organisation, user=user).first()
    return row.last_id if row else ""


def unread(organisation: Organisation, user: User, most: int = 100) -> int:
    """Return how many notifications are unread, counted up to ``most``."""
    last = read_up_to(organisation, user)
    return notifications(organisation, user).filter(pk__gt=last)[:most].count()
