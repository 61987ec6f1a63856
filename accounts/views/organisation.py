"""The organisation's own pages: data, projects, audit; a further organisation."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts import access, forms, reads
from accounts.middleware import SESSION_ORGANISATION
from accounts.models import Organisation, Project
from accounts.services import organisations, projects, users
from accounts.views import once
from accounts.views.base import page, signed_in, status_of
from core import errors
from core.rest.pagination import paginate


@require_http_methods(["GET", "POST"])
@signed_in
def welcome(request: Any) -> HttpResponse:
    """Make an organisation: the first step of somebody who has none."""
    if request.user.is_staff:
        raise errors.NotFound(_("Staff accounts have no organisation."))
    form = forms.NewOrganisationForm(request.POST or None, initial={"zone": "Asia/Shanghai"})
    if request.method == "POST" and form.is_valid():
        try:
            member = organisations.create(
                **form.cleaned_data,
                owner=request.user,
                actor=access.person(request.user, request),
                now=timezone.now(),
                idempotency_key=once.fingerprint(request),
            )
        except errors.Invalid as error:
            forms.take_faults(form, error)
        else:
            request.session[SESSION_ORGANISATION] = member.organisation_id
            users.prefer(user=request.user, last_organisation=member.organisation_id)
            return redirect("home")
    return render(request, "accounts/welcome.html", {"form": form}, status=status_of(form))


@require_http_methods(["GET", "POST"])
@page()
def organisation(request: Any) -> HttpResponse:
    """Show the organisation's data; admins change them."""
    home = request.access.organisation
    initial = {name: getattr(home, name) for name in organisations.FIELDS}
    form = forms.OrganisationForm(
        request.POST or None, initial=initial, fixed=home.terms_fixed_at is not None
    )
    if request.method == "POST":
        request.access.require("admin")
        if form.is_valid() and _save(request, form, home):
            messages.success(request, _("Saved."))
            return redirect("accounts:organisation")
    shown = {"form": form, "home": home, "may_change": request.access.allows("admin"), "tab": "data"}
    return render(request, "accounts/organisation.html", shown, status=status_of(form))


@require_safe
@page()
def project_list(request: Any) -> HttpResponse:
    """List the projects."""
    return _projects(request, forms.ProjectForm())


@require_POST
@page("jobs:write")
def project_create(request: Any) -> HttpResponse:
    """Make a project."""
    form = forms.ProjectForm(request.POST)
    if form.is_valid():
        try:
            projects.create(
                organisation=request.access.organisation,
                **form.cleaned_data,
                actor=request.access.actor,
                now=timezone.now(),
                idempotency_key=request.key,
            )
        except errors.Invalid as error:
            forms.take_faults(form, error)
        except errors.Conflict as error:
            form.add_error("slug", str(error.detail))
        else:
            messages.success(request, _("The project is there; jobs can name it."))
            return redirect("accounts:projects")
    return _projects(request, form)


@require_safe
@page("admin")
def audit(request: Any) -> HttpResponse:
    """Show who did what, newest first."""
    action = request.GET.get("action", "")
    rows = paginate(reads.audit(request.access.organisation, action=action), request.GET)
    shown = {"page": rows, "page_cursor": request.GET.get("cursor", ""), "action": action, "tab": "audit"}
    return render(request, "accounts/audit.html", shown)


def _projects(request: Any, form: forms.ProjectForm) -> HttpResponse:
    rows = paginate(Project.objects.for_org(request.access.organisation), request.GET)
    shown = {
        "page": rows,
        "page_cursor": request.GET.get("cursor", ""),
        "form": form,
        "may_change": request.access.allows("jobs:write"),
        "tab": "projects",
    }
    return render(request, "accounts/projects.html", shown, status=status_of(form))


def _save(request: Any, form: forms.OrganisationForm, home: Organisation) -> bool:
    try:
        organisations.update(
            organisation=home, changes=form.cleaned_data, actor=request.access.actor, now=timezone.now()
        )
    except errors.Invalid as error:
        forms.take_faults(form, error)
        return False
    return True
