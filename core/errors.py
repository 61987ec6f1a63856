"""Errors that a person can act on: a stable code, what happened, and what to do next."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class FieldError:
    """One fault of one field of a request."""

    field: str
    code: str
    detail: str


class BerthError(Exception):
    """Base of every error that reaches a person; ``extra`` joins the problem document as it stands."""

    status = 400
    code = "error"

    def __init__(
        self,
        detail: str,
        *,
        code: str | None = None,
        errors: Sequence[FieldError] = (),
        extra: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.code = code or self.code
        self.errors = tuple(errors)
        self.extra = extra or {}


class BadRequest(BerthError):
    """The request could not be read."""

    status = 400
    code = "malformed"


class Forbidden(BerthError):
    """The caller is known but may not do this."""

    status = 403
    code = "forbidden"


class NotFound(BerthError):
    """Not there, or not the caller's: both look the same."""

    status = 404
    code = "not_found"


class Conflict(BerthError):
    """The state of things does not allow it now."""

    status = 409
    code = "conflict"


class InvalidState(Conflict):
    """The object is in a state that does not allow the call; ``extra["state"]`` names it."""

    code = "invalid_state"


class Invalid(BerthError):
    """The content of the request is wrong; ``errors`` names the fields."""

    status = 422
    code = "invalid"

    @classmethod
    def field(cls, field: str, code: str, detail: str) -> "Invalid":
        """Return the error of a single field."""
        return cls(detail, errors=[FieldError(field, code, detail)])


class Unavailable(BerthError):
    """Something that we depend on is away; trying again makes sense."""

    status = 503
    code = "unavailable"
