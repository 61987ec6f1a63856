"""Lists by cursor: the cursor is the last id seen, so a page stays right while rows are added."""

import base64
import binascii
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.core import signing
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from rest_framework import serializers

from core import errors

DEFAULT_LIMIT = 50
MOST = 200
_signer = signing.Signer(salt="cursor")


@dataclass(frozen=True, slots=True)
class Page:
    """Some rows, and the cursor of what follows them."""

    items: list[Any]
    next: str | None

    def answer(self, show: Callable[[Any], Any]) -> dict[str, Any]:
        """Return the body of a list; ``show`` turns a row into its shape."""
        return {"items": [show(item) for item in self.items], "next": self.next}


def paginate(
    rows: QuerySet[Any],
    params: Mapping[str, str],
    *,
    oldest_first: bool = False,
    default_limit: int = DEFAULT_LIMIT,
) -> Page:
    """Return one page of rows ordered by id, newest first unless told; ``params`` are those of the query."""
    limit = read_limit(params, default_limit)
    if cursor := params.get("cursor"):
        rows = rows.filter(**{"pk__gt" if oldest_first else "pk__lt": read_cursor(cursor)})
    found = list(rows.order_by("pk" if oldest_first else "-pk")[: limit + 1])
    more = len(found) > limit
    return Page(found[:limit], write_cursor(str(found[limit - 1].pk)) if more else None)


def read_limit(params: Mapping[str, str], default: int = DEFAULT_LIMIT) -> int:
    """Return how many rows are asked for."""
    given = params.get("limit")
    if given is None:
        return default
    if not (given.isascii() and given.isdigit() and len(given) <= 6 and 1 <= int(given) <= MOST):
        raise errors.Invalid.field(
            "limit", "out_of_range", _("limit is a whole number from 1 to {most}.").format(most=MOST)
        )
    return int(given)


def write_cursor(last: str) -> str:
    """Return the opaque cursor behind a row."""
    return base64.urlsafe_b64encode(_signer.sign(last).encode()).decode().rstrip("=")


def read_cursor(cursor: str) -> str:
    """Return the id in a cursor that :func:`write_cursor` made."""
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
        return _signer.unsign(text)
    except (binascii.Error, ValueError, signing.BadSignature) as error:
        raise errors.Invalid.field(
            "cursor", "invalid_cursor", _("This cursor is not one of ours; start again without it.")
        ) from error


@cache
def page_serializer(item: type[serializers.Serializer]) -> type[serializers.Serializer]:
    """Return the serializer of a list of ``item``, for the schema."""
    fields = {
        "items": item(many=True),
        "next": serializers.CharField(allow_null=True, help_text="Cursor of the next page."),
    }
    return type(
        item.__name__.removesuffix("Serializer") + "PageSerializer", (serializers.Serializer,), fields
    )
