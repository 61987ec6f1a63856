"""Serializers that refuse what they do not know, and the shape of money."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers

from core.money import CURRENCIES
from core.rest import problems

UNKNOWN_SHOWN = 50


class StrictSerializer(serializers.Serializer):
    """A body with exactly the writable fields declared: any other name is ``unknown_field``.

    Nested serializers are strict when they derive from this class too.
    """

    def to_internal_value(self, data: Any) -> Any:
        """Return the validated values; all faults of the body are raised together."""
        faults: dict[str, Any] = {}
        if isinstance(data, Mapping):
            known = {name for name, field in self.fields.items() if not field.read_only}
            message = _("This call has no such field.")
            for name in sorted(str(name) for name in data if name not in known)[:UNKNOWN_SHOWN]:
                faults[name] = [serializers.ErrorDetail(message, code="unknown_field")]
        try:
            value = super().to_internal_value(data)
        except serializers.ValidationError as error:
            if isinstance(error.detail, Mapping):
                raise serializers.ValidationError({**error.detail, **faults}) from error
            raise
        if faults:
            raise serializers.ValidationError(faults)
        return value


class EmptySerializer(StrictSerializer):
    """A call that takes no fields: ``{}`` or nothing."""


class MoneySerializer(StrictSerializer):
    """Money in minor units (fen, cents); reads ``core.money.Money`` or a mapping."""

    amount = serializers.IntegerField(help_text="Minor units: fen, cents.")
    currency = serializers.ChoiceField(choices=CURRENCIES)


class FieldErrorSerializer(serializers.Serializer):
    """One fault of one field."""

    field = serializers.CharField(help_text="Dotted path; empty for the whole body.")
    code = serializers.CharField()
    detail = serializers.CharField()


class ProblemSerializer(serializers.Serializer):
    """A problem document as RFC 9457 has it; ``code`` is stable."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField()
    code = serializers.CharField(help_text="Stable. One of: " + ", ".join(problems.CODES))
    errors = FieldErrorSerializer(many=True)  # type: ignore[assignment]
    request_id = serializers.CharField(required=False)
