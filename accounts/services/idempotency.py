"""Idempotency keys: claimed in a commit of their own, answered from the store, freed when nothing stands.

The identity of a claim goes on the row that a request makes, so a repeat after a crash continues that row.
It is our own word and not the caller's key: the key may be used afresh after 24 hours.
"""

import hashlib
import json
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection
from django.utils.translation import gettext as _

from accounts.models import IdempotencyKey, Organisation
from core import claims, errors, sealing

KEPT = timedelta(hours=24)
DEADLINE_SECONDS = 60


class KeyReused(errors.Invalid):
    """The key came before with another request."""

    code = "idempotency_key_reused"


class InProgress(errors.Conflict):
    """The first request with this key still runs."""

    code = "idempotency_in_progress"


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to run a request once; ``identity`` is what its row carries."""

    pk: int
    token: str

    @property
    def identity(self) -> str:
        """A unique word for the row that the request makes, the same on each repeat."""
        return f"idk_{self.pk}"


@dataclass(frozen=True, slots=True)
class Stored:
    """The first answer."""

    status: int
    body: Any


def fingerprint(*parts: bytes) -> str:
    """Return the digest of method, path and body, each bounded by its length."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()


def claim(*, organisation: Organisation, key: str, fingerprint: str, now: datetime) -> Claim | Stored:
    """Claim a key, or return its stored answer; raises KeyReused and InProgress."""
    for _attempt in range(3):
        token = secrets.token_hex(16)
        pk = _insert(organisation.pk, key, fingerprint, token, now)
        if pk is not None:
            return Claim(pk, token)
        row = IdempotencyKey.objects.filter(organisation=organisation, key=key).first()
        if row is None:
            continue
        if row.created_at <= now - KEPT:
            IdempotencyKey.objects.filter(claims.free(now), pk=row.pk).delete()
            continue
        if row.fingerprint not in {"", fingerprint}:
            raise KeyReused(_("This Idempotency-Key came before with another request. Use a new key."))
        if row.status is not None:
            body = sealing.unseal(row.answer, context=_context(row.pk))
            return Stored(row.status, json.loads(body) if body else None)
        taken = IdempotencyKey.objects.filter(
            claims.free(now), pk=row.pk, status=None, fingerprint=row.fingerprint
        ).update(fingerprint=fingerprint, claim_token=token, claim_until=_deadline(now))
        if taken:
            return Claim(row.pk, token)
    raise InProgress(_("The first request with this Idempotency-Key still runs. Try again in a moment."))


def store(claim: Claim, *, status: int, body: bytes) -> None:
    """Keep an answer as JSON (empty: none), sealed; a claim that was lost meanwhile is left alone."""
    answer = sealing.seal(body, context=_context(claim.pk))
    claims.give_back(IdempotencyKey, str(claim.pk), claim.token, status=status, answer=answer)


def release(claim: Claim, *, same_request_only: bool) -> None:
    """Free a key whose answer is not kept.

    After a failure of ours the key stays bound to its request, because a row may stand already;
    after a refusal the caller may correct the request and send it under the same key.
    """
    changes = {} if same_request_only else {"fingerprint": ""}
    claims.give_back(IdempotencyKey, str(claim.pk), claim.token, **changes)


def clean_up(*, now: datetime) -> int:
    """Delete keys older than a day that nobody holds; return how many."""
    old = IdempotencyKey.objects.filter(claims.free(now), created_at__lte=now - KEPT)
    return old.delete()[0]


def _insert(organisation_id: str, key: str, fingerprint: str, token: str, now: datetime) -> int | None:
    # One statement outside a transaction is a commit of its own, and costs one round trip.
    table = connection.ops.quote_name(IdempotencyKey._meta.db_table)
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table} (organisation_id, key, fingerprint, claim_token, claim_until,"  # noqa: S608
            " answer, created_at) VALUES (%s, %s, %s, %s, %s, '', %s)"
            " ON CONFLICT (organisation_id, key) DO NOTHING RETURNING id",
            [organisation_id, key, fingerprint, token, _deadline(now), now],
        )
        row = cursor.fetchone()
    return int(row[0]) if row else None


def _deadline(now: datetime) -> datetime:
    return now + timedelta(seconds=DEADLINE_SECONDS)


def _context(pk: int) -> str:
    return f"idempotency:{pk}"
