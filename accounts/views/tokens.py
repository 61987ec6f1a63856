"""Tokens: list, issue with the secret shown once, revoke."""

from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts import forms, reads
from accounts.models import Token
from accounts.services import tokens
from accounts.views.base import page, status_of
from core import errors
from core.rest.pagination import paginate


@require_safe
@page()
def token_list(request: Any) -> HttpResponse:
    """List one's own tokens; an admin sees everyone's."""
    return _list(request, forms.TokenForm(asker=request.access))


@never_cache
@require_POST
@page("tokens", again="accounts:tokens")
def issue(request: Any) -> HttpResponse:
    """Issue a token; its secret is on this one page only."""
    form = forms.TokenForm(request.POST, asker=request.access)
    now = timezone.now()
    if form.is_valid():
        days = form.cleaned_data["days"]
        try:
            token, secret = tokens.issue(
                member=request.access.member,
                name=form.cleaned_data["name"],
                scopes=form.cleaned_data["scopes"],
                expires_at=now + timedelta(days=int(days)) if days else None,
                actor=request.access.actor,
                now=now,
                idempotency_key=request.key,
            )
        except errors.Invalid as error:
            forms.take_faults(form, error)
        else:
            return _list(request, forms.TokenForm(asker=request.access), fresh=token, secret=secret)
    return _list(request, form)


@require_POST
@page("tokens")
def revoke(request: Any, token_id: str) -> HttpResponse:
    """Revoke a token."""
    token = _visible(request).get_or_404(token_id)
    tokens.revoke(token=token, actor=request.access.actor, now=timezone.now())
    messages.success(
        request, _("The token {name} is revoked; it opens nothing any more.").format(name=token.name)
    )
    return redirect("accounts:tokens")


def _visible(request: Any) -> Any:
    return reads.tokens(request.access.member, everyone=request.access.allows("admin"))


def _list(
    request: Any, form: forms.TokenForm, *, fresh: Token | None = None, secret: str = ""
) -> HttpResponse:
    shown = {
        "page": paginate(_visible(request), request.GET),
        "page_cursor": request.GET.get("cursor", ""),
        "form": form,
        "fresh": fresh,
        "secret": secret,
        "may_issue": request.access.allows("tokens"),
        "everyone": request.access.allows("admin"),
        "now": timezone.now(),
        "tab": "tokens",
    }
    return render(request, "accounts/tokens.html", shown, status=status_of(form))
