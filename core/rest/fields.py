"""Fields with one shape everywhere: times with ``Z``, money in minor units."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

from core import errors

EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
LATEST = datetime(2200, 1, 1, tzinfo=UTC)


def z(value: datetime) -> str:
    """Return an aware time as RFC 3339 in UTC with ``Z``."""
    return value.astimezone(UTC).isoformat().replace("+00:00", "Z")


class ZTime(serializers.DateTimeField):
    """A time in RFC 3339; an offset must be named, the answer is in UTC with ``Z``."""

    default_error_messages = {
        "invalid": _("Write the time in RFC 3339 with Z or an offset, such as 2026-01-31T09:00:00Z."),
        "out_of_range": _("The time lies outside the years 2000 to 2199."),
    }

    def to_internal_value(self, value: Any) -> datetime:
        """Return an aware time in UTC."""
        try:
            parsed = parse_datetime(value) if isinstance(value, str) and len(value) <= 40 else None
        except ValueError:
            parsed = None
        if parsed is None or parsed.tzinfo is None:
            self.fail("invalid")
        try:
            instant = parsed.astimezone(UTC)
        except OverflowError:
            self.fail("out_of_range")
        if not EARLIEST <= instant < LATEST:
            self.fail("out_of_range")
        return instant

    def to_representation(self, value: Any) -> str:
        """Return the text of a time."""
        return z(value)


def query_time(params: Mapping[str, str], name: str) -> datetime | None:
    """Return the time in a query parameter, None when it is absent; raises Invalid."""
    if name not in params:
        return None
    try:
        return ZTime().run_validation(params[name])  # type: ignore[no-any-return]
    except serializers.ValidationError as error:
        raise errors.Invalid.field(name, "invalid", str(error.detail[0])) from error  # type: ignore[index]
