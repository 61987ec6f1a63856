"""Tokens for automation: the secret is shown once and stored hashed."""

import hashlib
import secrets
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from accounts import rights
from accounts.models import Member, Token
from accounts.services import audit
from core import errors
from core.actors import Actor
from core.lookup import Lookup

PREFIX_BYTES = 4
SECRET_BYTES = 32
LONGEST_SECRET = 200
USE_SHOWN_EVERY = timedelta(minutes=1)

_BY_HASH = Lookup[Token](
    lambda secret_hash: Token.objects.select_related("organisation", "member__user").filter(
        secret_hash=secret_hash, revoked_at=None
    )
)


def issue(
    *,
    member: Member,
    name: str,
    scopes: Iterable[str],
    expires_at: datetime | None,
    actor: Actor,
    now: datetime,
    idempotency_key: str | None = None,
) -> tuple[Token, str]:
    """Return a new token and its secret, which is known here only.

    A repeat after a crash gives the row of the key a fresh secret: nobody saw the first one.
    """
    wanted = sorted(set(scopes))
    _check(name, wanted, expires_at, now)
    prefix = secrets.token_hex(PREFIX_BYTES)
    secret = f"berth_{prefix}_{secrets.token_urlsafe(SECRET_BYTES)}"
    shown = {"prefix": f"berth_{prefix}", "secret_hash": digest(secret)}
    with transaction.atomic():
        if idempotency_key:
            rows = Token.objects.for_org(member.organisation).filter(idempotency_key=idempotency_key)
            if rows.update(**shown):
                return rows.get(), secret
        token = Token.objects.create(
            organisation=member.organisation,
            member=member,
            name=name.strip(),
            scopes=wanted,
            created_at=now,
            expires_at=expires_at,
            idempotency_key=idempotency_key,
            **shown,
        )
        audit.record(
            actor=actor,
            action="token.issued",
            target=token,
            organisation=member.organisation,
            after={"name": token.name, "member": member.pk, "scopes": wanted, "expires_at": expires_at},
            now=now,
        )
    return token, secret


def revoke(*, token: Token, actor: Actor, now: datetime) -> None:
    """End a token at once; ending it twice is the same."""
    with transaction.atomic():
        if Token.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=now):
            audit.record(
                actor=actor,
                action="token.revoked",
                target=token,
                organisation=token.organisation,
                before={"revoked_at": None},
                after={"revoked_at": now},
                now=now,
            )


def authenticate(secret: str, now: datetime) -> Token | None:
    """Return the valid token of a secret with member, user and organisation: one query."""
    if len(secret) > LONGEST_SECRET:
        return None
    token = _BY_HASH.first(digest(secret))
    if token is None or (token.expires_at and token.expires_at <= now) or not token.member.user.is_active:
        return None
    token.member.organisation = token.organisation  # known: no query when somebody asks the member
    if token.last_used_at is None or token.last_used_at <= now - USE_SHOWN_EVERY:
        unseen = Q(last_used_at=None) | Q(last_used_at__lte=now - USE_SHOWN_EVERY)
        Token.objects.filter(unseen, pk=token.pk).update(last_used_at=now)
    return token


def digest(secret: str) -> str:
    """Return the hash under which a secret is stored; it has 256 bits, so it needs no slow hash."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def _check(name: str, scopes: list[str], expires_at: datetime | None, now: datetime) -> None:
    if not 1 <= len(name.strip()) <= 100:
        raise errors.Invalid.field("name", "length", _("Give the token a name of 1 to 100 characters."))
    unknown = [scope for scope in scopes if scope not in rights.SCOPES]
    if unknown or not scopes:
        raise errors.Invalid.field(
            "scopes",
            "unknown_scope" if unknown else "required",
            _("Choose at least one of the scopes: {scopes}.").format(scopes=", ".join(rights.SCOPES)),
        )
    if expires_at is not None and expires_at <= now:
        raise errors.Invalid.field("expires_at", "past", _("The token would have expired already."))
