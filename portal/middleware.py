"""The request id: taken or made, in every log line and audit row, returned; one log line per request."""

import logging
import time
from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

from core import context

QUIET = ("/livez", "/readyz", "/metrics", "/static/")
logger = logging.getLogger("berth.request")


class RequestIdMiddleware:
    """Stands first, so that whatever the others say carries the id."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        request_id = context.accept_request_id(request.headers.get("X-Request-Id"))
        token = context.request_id.set(request_id)
        began = time.monotonic()
        try:
            response = self.get_response(request)
            response["X-Request-Id"] = request_id
            if not request.path.startswith(QUIET):
                logger.info(
                    "request",
                    extra={
                        "method": request.method,
                        "path": request.path,
                        "status": response.status_code,
                        "ms": round((time.monotonic() - began) * 1000),
                    },
                )
            return response
        finally:
            context.request_id.reset(token)
