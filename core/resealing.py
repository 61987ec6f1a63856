"""Sealing anew what an older key sealed, so that the older key may go."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.db.models import QuerySet

from core import sealing


def rows(query: QuerySet[Any], field: str, context: Callable[[Any], str]) -> int:
    """Seal a field of these rows with the newest key where another one did; return how many.

    A row that changed meanwhile is left alone, it was sealed with the newest key; to be run again after
    an end. Raises SealBroken for a text that no key opens.
    """
    newest = next(iter(settings.SEALING_KEYS))
    waiting = query.exclude(**{field: ""}).exclude(**{f"{field}__startswith": f"{newest}:"})
    done = 0
    for row in waiting.order_by("pk").iterator(chunk_size=200):
        sealed, told = getattr(row, field), context(row)
        fresh = sealing.seal(sealing.unseal(sealed, context=told), context=told)
        done += query.model._base_manager.filter(pk=row.pk, **{field: sealed}).update(**{field: fresh})
    return done
