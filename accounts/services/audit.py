"""Makes the audit row of a write, which stands in the same transaction."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder

from accounts.models import AuditEntry, Organisation
from core.actors import Actor


def record(
    *,
    actor: Actor,
    action: str,
    target: Any,
    organisation: Organisation | None,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    now: datetime,
) -> AuditEntry:
    """Write who did ``action`` (``order.placed``) to ``target`` (a row or its id); never pass secrets."""
    row = entry(
        actor=actor,
        action=action,
        target=target,
        organisation=organisation,
        before=before,
        after=after,
        now=now,
    )
    row.save(force_insert=True)
    return row


def entry(
    *,
    actor: Actor,
    action: str,
    target: Any,
    organisation: Organisation | None,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    now: datetime,
) -> AuditEntry:
    """Return what `record` writes, for a caller who writes it together with its own rows."""
    return AuditEntry(
        organisation=organisation,
        at=now,
        actor_kind=actor.kind,
        actor_label=actor.label[:254],
        user_id=actor.user_id or "",
        token_id=actor.token_id or "",
        action=action,
        target=str(getattr(target, "pk", target) or ""),
        before=plain(before),
        after=plain(after),
        request_id=actor.request_id,
        ip=actor.ip or None,
    )


def plain(values: Mapping[str, Any] | None) -> Any:
    """Return values as JSON holds them: times and exact numbers as text."""
    return None if values is None else json.loads(json.dumps(values, cls=DjangoJSONEncoder))
