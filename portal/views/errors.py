"""Error pages: what happened, what the reader can do, and the request id; none needs the database."""

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template import loader
from django.utils.translation import gettext as _

from core import context, errors


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Answer a request that cannot be read."""
    return _page(
        request,
        400,
        _("This request cannot be read"),
        _("The address or the form that your browser sent is damaged. Nothing was changed."),
        _("Go back, reload the page and try again."),
    )


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Answer somebody who may not do this."""
    said = str(exception.args[0]) if isinstance(exception, PermissionDenied) and exception.args else ""
    return _page(
        request,
        403,
        _("You may not do this"),
        said or _("Your role in this organisation does not allow it. Nothing was changed."),
        _("Ask an owner or admin of your organisation, or switch to another organisation."),
    )


def csrf_failed(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answer a form without a valid token."""
    return _page(
        request,
        403,
        _("This form has expired"),
        _("The form was open for too long, was sent from another page, or cookies are switched off."),
        _("Go back, reload the page and send it again. Nothing was changed."),
    )


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Answer an address that leads nowhere, or to somebody else's things."""
    return _page(
        request,
        404,
        _("There is nothing here"),
        _("The address is wrong, the thing is gone, or it belongs to another organisation."),
        _("Check the address, or switch to the organisation it belongs to."),
    )


def failed(request: HttpRequest) -> HttpResponse:
    """Answer after a fault of ours."""
    return _page(
        request,
        500,
        _("Something went wrong on our side"),
        _("The fault was recorded. What you sent may not have been saved."),
        _("Try again. If it happens again, tell support the request id below."),
    )


def _page(request: HttpRequest, status: int, title: str, happened: str, can_do: str) -> HttpResponse:
    theme = request.COOKIES.get("theme", "")
    values = {
        "title": title,
        "error": errors.BerthError(happened),
        "can_do": can_do,
        "request_id": context.request_id.get(),
        "theme": theme if theme in ("light", "dark") else "",
    }
    return HttpResponse(loader.render_to_string("error.html", values), status=status)
