"""What every page knows: the person's organisation and rights, language and theme; errors as pages."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from accounts import access, reads
from accounts.models import Member
from core import context, errors
from core.rest.parsers import UNSTORABLE

API_PREFIX = "/api/"
THEMES = ("", "light", "dark")
THEME_COOKIE = "theme"
SESSION_ORGANISATION = "organisation"
Handler = Callable[[HttpRequest], HttpResponseBase]


class PeopleMiddleware:
    """Sets ``request.access`` (None for nobody and staff), ``request.memberships`` and ``request.theme``.

    The API has its own (tokens); nothing is read for it here.
    """

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        request.access, request.memberships, request.theme = None, [], ""  # type: ignore[attr-defined]
        if not request.path.startswith(API_PREFIX):
            self._read(request)
        zone = request.access.organisation.zone if request.access else None  # type: ignore[attr-defined]
        with timezone.override(zone):  # times on pages are the organisation's
            return self.get_response(request)

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: dict[str, Any]) -> None:
        """Names that nothing can store name nothing."""
        in_api = request.path.startswith(API_PREFIX)  # which answers with its own document
        if not in_api and any(UNSTORABLE.search(str(value)) for value in kwargs.values()):
            raise Http404

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Show our own errors as pages, with their sentence and the request id."""
        if not isinstance(exception, errors.BerthError):
            return None
        shown = {"error": exception, "request_id": context.request_id.get()}
        return render(request, "error.html", shown, status=exception.status)

    def _read(self, request: HttpRequest) -> None:
        user = request.user
        theme = request.COOKIES.get(THEME_COOKIE, "")
        if user.is_authenticated:
            theme = user.theme or theme
            if user.language and user.language in dict(settings.LANGUAGES):
                translation.activate(user.language)
                request.LANGUAGE_CODE = translation.get_language()
            if not user.is_staff:
                members = reads.memberships(user)
                request.memberships = members  # type: ignore[attr-defined]
                if current := self._current(request, members):
                    request.access = access.of_member(current, request)  # type: ignore[attr-defined]
        request.theme = theme if theme in THEMES else ""  # type: ignore[attr-defined]

    def _current(self, request: HttpRequest, members: list[Member]) -> Member | None:
        for wanted in (request.session.get(SESSION_ORGANISATION), request.user.last_organisation):  # type: ignore[union-attr]
            for member in members:
                if member.organisation_id == wanted:
                    return member
        return members[0] if members else None


class StaffMfaMiddleware:
    """Where the setting asks for it, staff see nothing before they have a second factor."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if settings.STAFF_MFA and self._applies(request):
            from allauth.mfa.utils import is_mfa_enabled
            from django.contrib import messages

            if not is_mfa_enabled(request.user):
                messages.warning(request, _("Staff sign in with a second factor. Set one up to go on."))
                return redirect("mfa_index")
        return self.get_response(request)

    def _applies(self, request: HttpRequest) -> bool:
        if request.path.startswith(API_PREFIX):
            return False
        if not (request.user.is_authenticated and request.user.is_staff):
            return False
        sign_in = reverse("account_login").removesuffix("login/")
        return not request.path.startswith((sign_in, reverse("language"), reverse("theme")))
