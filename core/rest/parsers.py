"""Reads JSON bodies strictly: valid UTF-8, no NaN, no characters that nothing can store."""

import json
import re
from collections.abc import Mapping
from typing import Any, NoReturn

from django.utils.translation import gettext as _
from rest_framework import parsers
from rest_framework.exceptions import ParseError

from core import errors

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class StrictJSONParser(parsers.JSONParser):
    """JSON as RFC 8259 has it: anything else is malformed, and NUL characters are invalid."""

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> Any:
        """Return the value of the body."""
        body = stream.read()
        try:
            text = body.decode("utf-8")
            value = json.loads(text, parse_constant=_refuse_constant)
        except RecursionError as error:
            raise ParseError(_("The body is not valid JSON: it is nested too deeply.")) from error
        except ValueError as error:  # also UnicodeDecodeError and numbers without end
            raise ParseError(_("The body is not valid JSON: {why}").format(why=error)) from error
        if b"\\u" in body:
            refuse_unstorable(value)
        return value


def refuse_unstorable(value: Any, field: str = "") -> None:
    """Raise Invalid when a text anywhere in the value holds NUL or half a surrogate pair."""
    if isinstance(value, str):
        if UNSTORABLE.search(value):
            raise errors.Invalid.field(
                field, "invalid_characters", _("Text may not hold NUL or half characters.")
            )
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            path = f"{field}.{name}" if field else str(name)
            if UNSTORABLE.search(str(name)):
                refuse_unstorable(str(name), UNSTORABLE.sub("?", path))
            refuse_unstorable(inner, path)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            refuse_unstorable(inner, f"{field}.{index}" if field else str(index))


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")
