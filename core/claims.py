"""Claims: one worker at a time takes a row, by a conditional update with a token and a deadline.

A row that can be claimed has the fields ``claim_token`` (text, empty when free) and ``claim_until``.
"""

import secrets
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Model, Q, QuerySet


def take(rows: QuerySet[Any], *, now: datetime, seconds: int) -> str | None:
    """Claim the one row that ``rows`` selects; return the token, or None when somebody else has it."""
    token = secrets.token_hex(16)
    taken = rows.filter(free(now)).update(claim_token=token, claim_until=now + timedelta(seconds=seconds))
    return token if taken else None


def free(now: datetime) -> Q:
    """Return the condition of a row that nobody holds."""
    return Q(claim_token="") | Q(claim_until__lte=now)


def owned(model: type[Model], pk: str, token: str) -> QuerySet[Any]:
    """Return the row as long as this token holds it: the WHERE of the step that applies a result."""
    return model._default_manager.filter(pk=pk, claim_token=token)


def give_back(model: type[Model], pk: str, token: str, **changes: Any) -> bool:
    """Release a claim, with changes in the same statement; False when the claim was lost meanwhile."""
    return bool(owned(model, pk, token).update(claim_token="", claim_until=None, **changes))
