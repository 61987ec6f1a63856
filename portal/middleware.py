"""What every request goes through: its id, one log line, and its body taken in to the end."""

import contextlib
import logging
import time
from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

from core import context

QUIET = ("/livez", "/readyz", "/metrics", "/static/")
BODIES = ("POST", "PUT", "PATCH", "DELETE")
DRAIN_MOST = 32 * 1024 * 1024
PIECE = 64 * 1024
logger = logging.getLogger("berth.request")


class UnreadBodyMiddleware:
    """Takes in what a refused request still sends, so that its sender lives to read the refusal.

    A socket that is closed with bytes unread is reset, and the answer (413, 401) is lost with it.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        stream = getattr(request, "_stream", None)
        if request.method in BODIES and stream is not None:
            room = DRAIN_MOST
            with contextlib.suppress(OSError, ValueError):  # the sender is gone, or the stream is closed
                while room > 0 and (piece := stream.read(min(PIECE, room))):
                    room -= len(piece)
        return response


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
