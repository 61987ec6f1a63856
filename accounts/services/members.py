"""Members: invited by mail, accepted, changed, removed. The last owner stays; owners make owners."""

import hashlib
import secrets
from datetime import datetime, timedelta

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.access import Access
from accounts.models import Invitation, Member, Organisation, User
from accounts.models.organisation import Role
from accounts.services import audit, mail, notifications
from core import errors
from core.actors import Actor

LIFETIME = timedelta(days=7)
MOST_OPEN = 100


def invite(*, access: Access, email: str, role: str, now: datetime) -> Invitation:
    """Invite an address; the secret goes out by mail only. A repeat sends a fresh link."""
    access.require("admin")
    _may_give(access, role)
    address = _address(email)
    secret = secrets.token_urlsafe(32)
    home = access.organisation
    with transaction.atomic():
        _lock(home)
        if Member.objects.for_org(home).filter(user__email=address).exists():
            raise errors.Conflict(_("{email} is a member already.").format(email=address), code="exists")
        open_ones = Invitation.objects.for_org(home).filter(accepted_at=None, revoked_at=None)
        open_ones.filter(email=address).update(revoked_at=now)
        if open_ones.filter(expires_at__gt=now).count() >= MOST_OPEN:
            raise errors.Conflict(_("Too many open invitations: withdraw some first."))
        invitation = Invitation.objects.create(
            organisation=home,
            email=address,
            role=role,
            secret_hash=digest(secret),
            invited_by=access.user,
            created_at=now,
            expires_at=now + LIFETIME,
        )
        audit.record(
            actor=access.actor,
            action="member.invited",
            target=invitation,
            organisation=home,
            after={"email": address, "role": role},
            now=now,
        )
        _write_mail(invitation, access.user, secret, now)
    return invitation


def withdraw(*, access: Access, invitation: Invitation, now: datetime) -> None:
    """Make an invitation worthless."""
    access.require("admin")
    with transaction.atomic():
        if Invitation.objects.filter(pk=invitation.pk, accepted_at=None, revoked_at=None).update(
            revoked_at=now
        ):
            audit.record(
                actor=access.actor,
                action="member.invitation_withdrawn",
                target=invitation,
                organisation=invitation.organisation,
                before={"email": invitation.email, "role": invitation.role},
                now=now,
            )


def find_invitation(secret: str, *, now: datetime) -> Invitation | None:
    """Return the open invitation of a link, or None: unknown, used, withdrawn and expired look the same."""
    rows = Invitation.objects.select_related("organisation", "invited_by")
    return rows.filter(
        secret_hash=digest(secret), accepted_at=None, revoked_at=None, expires_at__gt=now
    ).first()


def accept(*, invitation: Invitation, user: User, actor: Actor, now: datetime) -> Member:
    """Make the person a member; whoever holds the link and signs in may accept it, once."""
    home = invitation.organisation
    if user.is_staff:
        raise errors.Forbidden(_("Staff accounts do not join organisations; use another account."))
    with transaction.atomic():
        taken = Invitation.objects.filter(
            pk=invitation.pk, accepted_at=None, revoked_at=None, expires_at__gt=now
        ).update(accepted_at=now)
        if not taken:
            raise errors.NotFound(_("This invitation is used or has expired. Ask for a new one."))
        member, made = Member.objects.get_or_create(
            organisation=home, user=user, defaults={"role": invitation.role}
        )
        if made:
            audit.record(
                actor=actor,
                action="member.joined",
                target=member,
                organisation=home,
                after={"email": user.email, "role": member.role, "invitation": invitation.pk},
                now=now,
            )
            notifications.notify(
                organisation=home,
                kind="member.joined",
                severity="info",
                params={"person": str(user), "role": member.role},
                link=reverse("accounts:organisation"),
                once_key=f"member.joined:{member.pk}",
                now=now,
            )
    return member


def change_role(*, access: Access, member: Member, role: str, now: datetime) -> Member:
    """Give a member another role."""
    access.require("admin")
    _may_give(access, role)
    with transaction.atomic():
        _lock(access.organisation)
        row = Member.objects.for_org(access.organisation).select_related("user").get_or_404(member.pk)
        if row.role == role:
            return row
        _may_touch(access, row)
        _keep_an_owner(row)
        before, row.role = row.role, role
        row.save(update_fields=["role"])
        audit.record(
            actor=access.actor,
            action="member.role_changed",
            target=row,
            organisation=access.organisation,
            before={"email": row.user.email, "role": before},
            after={"email": row.user.email, "role": role},
            now=now,
        )
    return row


def remove(*, access: Access, member: Member, now: datetime) -> None:
    """Remove a member and with it all its tokens; anybody may leave, admins remove others."""
    with transaction.atomic():
        _lock(access.organisation)
        row = Member.objects.for_org(access.organisation).select_related("user").get_or_404(member.pk)
        if row.pk != access.member.pk:
            access.require("admin")
            _may_touch(access, row)
        _keep_an_owner(row)
        audit.record(
            actor=access.actor,
            action="member.removed",
            target=row,
            organisation=access.organisation,
            before={"email": row.user.email, "role": row.role},
            now=now,
        )
        row.delete()


def digest(secret: str) -> str:
    """Return the hash under which the secret of a link is stored."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def _may_give(access: Access, role: str) -> None:
    if role not in Role.values:
        raise errors.Invalid.field("role", "unknown", _("There is no such role."))
    if role == Role.OWNER and not access.allows("owner"):
        raise errors.Forbidden(_("Only an owner makes somebody an owner."))


def _may_touch(access: Access, member: Member) -> None:
    if member.role == Role.OWNER and not access.allows("owner"):
        raise errors.Forbidden(_("Only an owner changes or removes an owner."))


def _keep_an_owner(member: Member) -> None:
    owners = Member.objects.filter(organisation=member.organisation_id, role=Role.OWNER)
    if member.role == Role.OWNER and not owners.exclude(pk=member.pk).exists():
        raise errors.Conflict(
            _("An organisation keeps at least one owner. Make somebody else an owner first."),
            code="last_owner",
        )


def _lock(organisation: Organisation) -> None:
    Organisation.objects.select_for_update().get(pk=organisation.pk)


def _address(email: str) -> str:
    try:
        validate_email(email.strip())
    except ValidationError as error:
        raise errors.Invalid.field("email", "invalid", _("This is not an address of mail.")) from error
    return email.strip().lower()


def _write_mail(invitation: Invitation, inviter: User, secret: str, now: datetime) -> None:
    known = User.objects.filter(email=invitation.email).first()
    address = settings.PUBLIC_URL + reverse("accounts:invitation", args=[secret])
    with mail.language_of(known or inviter):
        subject = _("{organisation} invites you to Berth").format(organisation=invitation.organisation.name)
        body = _(
            "{person} invites you to join {organisation} as {role}.\n\n"
            "Accept within seven days:\n{address}\n\n"
            "If you do not know them, do nothing."
        ).format(
            person=inviter.email,
            organisation=invitation.organisation.name,
            role=invitation.get_role_display(),
            address=address,
        )
    mail.write(
        to=invitation.email, subject=subject, body=body, once_key=f"invitation:{invitation.pk}", now=now
    )
