"""A request that is refused before it was read to its end."""

import io
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory

from portal import middleware


def refuse(request: HttpRequest) -> HttpResponse:
    return HttpResponse(status=413)


def after(request: Any) -> int:
    """Return how many bytes are left unread once the request was refused."""
    assert middleware.UnreadBodyMiddleware(refuse)(request).status_code == 413
    return len(request._stream.read())


def test_the_rest_of_a_refused_body_is_taken_in() -> None:
    request = RequestFactory().post("/", b"x" * 300_000, content_type="application/json")
    request.read(10)
    assert after(request) == 0


def test_there_is_an_end_to_it(monkeypatch: Any) -> None:
    monkeypatch.setattr(middleware, "DRAIN_MOST", 100_000)
    request = RequestFactory().post("/", b"x" * 300_000, content_type="application/json")
    assert after(request) == 200_000


def test_a_sender_that_is_gone_is_no_fault() -> None:
    class Gone(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            raise OSError("gone")

    request: Any = RequestFactory().post("/", b"", content_type="application/json")
    request._stream = Gone()
    assert middleware.UnreadBodyMiddleware(refuse)(request).status_code == 413
