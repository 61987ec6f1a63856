"""The door of every page: signed in, in an organisation, with the right."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect

from accounts.access import Access
from accounts.views.once import once
from core import errors

View = TypeVar("View", bound=Callable[..., HttpResponseBase])


class PageRequest(HttpRequest):
    """A request as the middleware leaves it for a page of an organisation."""

    access: Access
    theme: str
    key: str | None  # of the row that this form makes; accounts/views/once.py
    refused: bool


def page(right: str | None = None, *, again: str = "") -> Callable[[View], View]:
    """Let in members of an organisation that have the right; send nobody to the sign-in.

    Staff have no organisation: for them such a page is not there. A form with a key acts once; ``again``
    names where its repeat leads if it is answered by a page and not by a redirect.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def inner(request: Any, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not request.user.is_authenticated:
                return redirect_to_login(request.get_full_path())
            if request.access is None:
                if request.user.is_staff:
                    raise Http404
                return redirect("accounts:welcome")
            if right is not None:
                request.access.require(right)
            return once(request, lambda: view(request, *args, **kwargs), again=again)

        return inner  # type: ignore[return-value]

    return decorate


def refuse(request: Any, error: errors.BerthError) -> None:
    """Say on the next page why a form did nothing; the same form may be sent again."""
    request.refused = True
    messages.error(request, error.detail)


def signed_in(view: View) -> View:
    """Let in anybody who signed in, staff too."""

    @wraps(view)
    def inner(request: Any, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return redirect_to_login(request.get_full_path())
        return view(request, *args, **kwargs)

    return inner  # type: ignore[return-value]


def status_of(form: Any) -> int:
    """Return the status of a page with a form: 422 when its input was refused."""
    return 422 if form.is_bound and form.errors else 200
