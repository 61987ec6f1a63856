"""What belongs to a person alone."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts import access, forms
from accounts.services import users
from accounts.views.base import signed_in, status_of


@require_http_methods(["GET", "POST"])
@signed_in
def profile(request: Any) -> HttpResponse:
    """Show and change one's name; sign-in, language and theme are linked."""
    form = forms.ProfileForm(request.POST or None, initial={"name": request.user.name})
    if request.method == "POST" and form.is_valid():
        actor = access.person(request.user, request)
        users.rename(user=request.user, actor=actor, now=timezone.now(), **form.cleaned_data)
        messages.success(request, _("Saved."))
        return redirect("accounts:profile")
    return render(request, "accounts/profile.html", {"form": form}, status=status_of(form))
