"""Problem documents (RFC 9457): every error of the API leaves through :func:`handle`."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from django.core.exceptions import (
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
    TooManyFieldsSent,
    TooManyFilesSent,
)
from django.core.signals import got_request_exception
from django.db import DataError
from django.http import Http404, UnreadablePostError
from django.utils.translation import gettext as _
from rest_framework import exceptions
from rest_framework.response import Response

from core import context, errors

logger = logging.getLogger(__name__)
MEDIA_TYPE = "application/problem+json"

# The stable codes of problem documents; the schema lists them. Codes of single fields are not here.
CODES = (
    "conflict",
    "error",
    "exists",
    "forbidden",
    "idempotency_in_progress",
    "idempotency_key_reused",
    "internal",
    "invalid",
    "invalid_state",
    "last_owner",
    "malformed",
    "method_not_allowed",
    "not_acceptable",
    "not_found",
    "payment_open",
    "quote_accepted",
    "quote_expired",
    "refund_exceeds_payment",
    "sold_out",
    "too_large",
    "too_many_holds",
    "too_many_requests",
    "unauthenticated",
    "unavailable",
    "unsupported_media_type",
    "unsupported_method",
)


class Unauthenticated(errors.BerthError):
    """Nobody, or a credential that is not valid."""

    status = 401
    code = "unauthenticated"


class TooLarge(errors.BerthError):
    """The body is larger than this call takes."""

    status = 413
    code = "too_large"


class Internal(errors.BerthError):
    """Our fault; the request id leads to the log."""

    status = 500
    code = "internal"


def handle(exc: Exception, info: Mapping[str, Any]) -> Response:
    """Return the answer to an exception: the exception handler of REST framework."""
    error, headers = translate(exc)
    if error.status >= 500 and not isinstance(exc, errors.BerthError):
        logger.error("unhandled error in the API", exc_info=exc)
        request = info.get("request")
        got_request_exception.send(sender=__name__, request=getattr(request, "_request", request))
    return answer(error, headers)


def answer(error: errors.BerthError, headers: Mapping[str, str] | None = None) -> Response:
    """Return the response of an error."""
    return Response(
        document(error), status=error.status, headers=dict(headers or {}), content_type=MEDIA_TYPE
    )


def document(error: errors.BerthError) -> dict[str, Any]:
    """Return the members of the problem document of an error."""
    body: dict[str, Any] = {
        "type": f"urn:berth:problem:{error.code}",
        "title": HTTPStatus(error.status).phrase,
        "status": error.status,
        "detail": str(error.detail),
        "code": error.code,
        "errors": [{"field": e.field, "code": e.code, "detail": str(e.detail)} for e in error.errors],
    }
    if request_id := context.request_id.get():
        body["request_id"] = request_id
    return {**error.extra, **body}


def translate(exc: Exception) -> tuple[errors.BerthError, dict[str, str]]:
    """Return our error for any exception, and the headers that go with it."""
    headers = dict(getattr(exc, "headers", None) or {})
    if isinstance(exc, errors.BerthError):
        return exc, headers
    if isinstance(exc, exceptions.APIException):
        return _of_framework(exc, headers)
    if isinstance(exc, Http404):
        return errors.NotFound(_("There is nothing here under this address, or it is not yours.")), headers
    if isinstance(exc, PermissionDenied):
        return errors.Forbidden(_("You may not do this.")), headers
    if isinstance(exc, RequestDataTooBig):
        return TooLarge(_("The body is too large for this call.")), headers
    if isinstance(exc, (SuspiciousOperation, TooManyFieldsSent, TooManyFilesSent, UnreadablePostError)):
        return errors.BadRequest(_("The request could not be read.")), headers
    if isinstance(exc, DataError):  # a number or a character that the database cannot hold
        return errors.Invalid(_("A value is outside the range that can be stored.")), headers
    return Internal(
        _("Something failed on our side. Try again; if it stays, send us the request id.")
    ), headers


def _of_framework(
    exc: exceptions.APIException, headers: dict[str, str]
) -> tuple[errors.BerthError, dict[str, str]]:
    if isinstance(exc, exceptions.ValidationError):
        faults = list(flatten(exc.detail))
        detail = faults[0].detail if len(faults) == 1 else _("Several fields are wrong; see errors.")
        return errors.Invalid(detail, errors=faults), headers
    if isinstance(exc, exceptions.ParseError):
        return errors.BadRequest(str(exc.detail)), headers
    if isinstance(exc, exceptions.Throttled):
        if wait := getattr(exc, "wait", None):
            headers["Retry-After"] = str(max(1, round(wait)))
        return _error(exc, "too_many_requests"), headers
    if isinstance(exc, (exceptions.NotAuthenticated, exceptions.AuthenticationFailed)):
        headers["WWW-Authenticate"] = getattr(exc, "auth_header", 'Bearer realm="berth"')
        return Unauthenticated(str(exc.detail)), headers
    names = {403: "forbidden", 404: "not_found", 405: "method_not_allowed", 406: "not_acceptable"}
    names |= {415: "unsupported_media_type"}
    return _error(exc, names.get(exc.status_code, "error")), headers


def _error(exc: exceptions.APIException, code: str) -> errors.BerthError:
    error = errors.BerthError(str(exc.detail), code=code)
    error.status = exc.status_code
    return error


def flatten(detail: Any, field: str = "") -> Iterator[errors.FieldError]:
    """Yield one fault per message; ``field`` is the dotted path, empty for the whole body."""
    if isinstance(detail, Mapping):
        for name, inner in detail.items():
            yield from flatten(inner, field if name == "non_field_errors" else _join(field, str(name)))
    elif isinstance(detail, Sequence) and not isinstance(detail, str):
        for index, inner in enumerate(detail):
            nested = isinstance(inner, Mapping) and inner
            yield from flatten(inner, _join(field, str(index)) if nested else field)
    else:
        yield errors.FieldError(field, getattr(detail, "code", None) or "invalid", str(detail))


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
