"""Language, theme and present organisation: small forms on every page, without scripts."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from accounts.middleware import SESSION_ORGANISATION, THEME_COOKIE, THEMES
from accounts.services import users
from accounts.views.base import signed_in
from core import errors

YEAR = 365 * 24 * 3600


@require_POST
def language(request: HttpRequest) -> HttpResponse:
    """Change the language here, and for good when somebody is signed in."""
    code = request.POST.get("language", "")
    if code not in dict(settings.LANGUAGES):
        raise errors.Invalid(_("The portal does not speak this language."))
    if request.user.is_authenticated:
        users.prefer(user=request.user, language=code)
    answer = _back(request)
    _remember(answer, settings.LANGUAGE_COOKIE_NAME, code)
    return answer


@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    """Change between light, dark and the system's choice (empty)."""
    choice = request.POST.get("theme", "")
    if choice not in THEMES:
        raise errors.Invalid(_("There is no such theme."))
    if request.user.is_authenticated:
        users.prefer(user=request.user, theme=choice)
    answer = _back(request)
    _remember(answer, THEME_COOKIE, choice)
    return answer


@require_POST
@signed_in
def switch(request: Any) -> HttpResponse:
    """Make another of one's organisations the present one."""
    wanted = request.POST.get("organisation", "")
    if wanted not in {member.organisation_id for member in request.memberships}:
        raise errors.NotFound(_("You are not a member of this organisation."))
    request.session[SESSION_ORGANISATION] = wanted
    users.prefer(user=request.user, last_organisation=wanted)
    return redirect("/")


def _back(request: HttpRequest) -> HttpResponse:
    target = request.POST.get("next", "")
    safe = url_has_allowed_host_and_scheme(target, {request.get_host()}, require_https=request.is_secure())
    return redirect(target if safe else "/")


def _remember(answer: HttpResponse, name: str, value: str) -> None:
    answer.set_cookie(name, value, max_age=YEAR, samesite="Lax", secure=settings.SESSION_COOKIE_SECURE)
