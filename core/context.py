"""The request id of the work at hand, for logs and audit rows."""

import re
import secrets
from contextvars import ContextVar

REQUEST_ID_FORM = re.compile(r"[A-Za-z0-9-]{1,64}")
request_id: ContextVar[str] = ContextVar("request_id", default="")


def accept_request_id(given: str | None) -> str:
    """Return the given request id when its form is allowed, else a new one."""
    if given and REQUEST_ID_FORM.fullmatch(given):
        return given
    return secrets.token_hex(12)
