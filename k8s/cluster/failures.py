"""Answers and broken connections to our errors: pure, so that every trap is a row of a test."""

import json
import ssl
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from k8s import errors

NOT_JSON = "The site answered {status} in words of its own: {text}"


def from_answer(status: int, body: bytes, headers: Mapping[str, str], now: datetime) -> errors.Error:
    """Return the error that an answer of 300 and above means."""
    said = _status(body)
    message = (said.get("message") if said else None) or NOT_JSON.format(
        status=status, text=body[:200].decode("utf-8", "replace").strip() or "nothing"
    )
    if status == 401:
        return errors.Unauthorised("The site does not accept our credentials.")
    if status == 403:
        return errors.Refused(message, reason=_why_forbidden(message))
    if status == 404:
        if not ((said or {}).get("details") or {}).get("name"):  # the path itself is unknown
            return errors.UnknownKind(f"The site does not know this kind of object: {message}")
        return errors.NotFound(message)
    if status == 409:
        return errors.Conflict(message)
    if status == 410:
        return errors.Gone(message)
    if status in (408, 429) or (status >= 500 and status != 501):
        return errors.Unavailable(message, retry_after=retry_after(headers, now))
    if status < 400:
        return errors.Unavailable(f"The site wants to send us elsewhere ({status}).")
    return errors.Refused(message)


def from_event(status: Mapping[str, Any]) -> errors.Error:
    """Return the error that an ERROR event of a watch means."""
    code = status.get("code")
    return from_answer(
        code if isinstance(code, int) else 500, json.dumps(status).encode(), {}, datetime.now(UTC)
    )


def from_exception(error: BaseException) -> errors.Unavailable:
    """Return what a connection that failed means, in a sentence without addresses of memory."""
    cause = _root(error)
    name = type(cause).__name__
    if isinstance(cause, ssl.SSLCertVerificationError):
        return errors.Unavailable(
            f"The certificate of the site is not to be trusted: {cause.verify_message}."
        )
    if isinstance(cause, ssl.SSLError) or "SSLError" in name:
        return errors.Unavailable(f"No secure connection to the site: {cause}.")
    if isinstance(cause, ConnectionRefusedError):
        return errors.Unavailable("Nothing listens at the address of the site.")
    if isinstance(cause, ConnectionError) or name in (
        "ProtocolError",
        "IncompleteRead",
        "RemoteDisconnected",
    ):
        return errors.Unavailable("The connection to the site broke.")
    if isinstance(cause, TimeoutError) or "Timeout" in name:
        return errors.Unavailable("The site did not answer in time.")
    return errors.Unavailable(f"The site cannot be reached ({name}).")


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the seconds that the server asks us to wait: a number or a date."""
    text = (headers.get("Retry-After") or "").strip()
    if text.isdecimal():
        return float(text)
    try:
        when = parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(0.0, (when.replace(tzinfo=when.tzinfo or UTC) - now).total_seconds())


def _status(body: bytes) -> Mapping[str, Any] | None:
    try:
        found = json.loads(body)
    except ValueError:
        return None
    return found if isinstance(found, dict) and found.get("kind") == "Status" else None


def _why_forbidden(message: str) -> errors.RefusedReason:
    return "quota" if "exceeded quota" in message else "forbidden"


def _root(error: BaseException) -> BaseException:
    """Follow causes down to what the operating system or TLS said."""
    seen = error
    for _ in range(10):
        inner = getattr(seen, "reason", None)
        if not isinstance(inner, BaseException):
            inner = next((a for a in seen.args if isinstance(a, BaseException)), None)
        inner = inner or seen.__cause__ or seen.__context__
        if inner is None or inner is seen:
            break
        seen = inner
    return seen
