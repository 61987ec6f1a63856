"""Members and invitations: list, invite, accept, change role, remove."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from accounts import access, forms, reads
from accounts.adapter import AccountAdapter
from accounts.middleware import SESSION_ORGANISATION
from accounts.models import Invitation, Member
from accounts.services import members, users
from accounts.views.base import page, signed_in, status_of
from core import errors
from core.rest.pagination import paginate


@require_safe
@page()
def member_list(request: Any) -> HttpResponse:
    """List the people of the organisation; admins see open invitations too."""
    return _list(request, forms.InviteForm(asker=request.access))


@require_POST
@page("admin")
def invite(request: Any) -> HttpResponse:
    """Invite an address."""
    form = forms.InviteForm(request.POST, asker=request.access)
    if form.is_valid():
        try:
            invitation = members.invite(access=request.access, **form.cleaned_data, now=timezone.now())
        except (errors.Invalid, errors.Conflict) as error:
            forms.take_faults(form, error)
        else:
            messages.success(
                request, _("An invitation is on its way to {email}.").format(email=invitation.email)
            )
            return redirect("accounts:members")
    return _list(request, form)


@require_POST
@page("admin")
def withdraw(request: Any, invitation_id: str) -> HttpResponse:
    """Withdraw an invitation."""
    invitation = Invitation.objects.for_org(request.access.organisation).get_or_404(invitation_id)
    members.withdraw(access=request.access, invitation=invitation, now=timezone.now())
    messages.success(request, _("The invitation of {email} is worthless now.").format(email=invitation.email))
    return redirect("accounts:members")


@require_POST
@page("admin")
def change_role(request: Any, member_id: str) -> HttpResponse:
    """Give a member another role."""
    member = _member(request, member_id)
    changed = members.change_role(
        access=request.access, member=member, role=request.POST.get("role", ""), now=timezone.now()
    )
    messages.success(
        request,
        _("{person} has the role {role} now.").format(person=changed.user, role=changed.get_role_display()),
    )
    return redirect("accounts:members")


@require_POST
@page()
def remove(request: Any, member_id: str) -> HttpResponse:
    """Remove a member, or leave."""
    member = _member(request, member_id)
    if member.pk != request.access.member.pk:
        request.access.require("admin")
    members.remove(access=request.access, member=member, now=timezone.now())
    if member.pk == request.access.member.pk:
        messages.success(request, _("You have left {organisation}.").format(organisation=member.organisation))
        return redirect("home")
    messages.success(request, _("{person} is no longer a member.").format(person=member.user))
    return redirect("accounts:members")


@require_safe
def invitation(request: HttpRequest, secret: str) -> HttpResponse:
    """Show an invitation to whoever holds its link."""
    found = members.find_invitation(secret, now=timezone.now())
    if found is None:
        raise errors.NotFound(_("This invitation is used, withdrawn or has expired. Ask for a new one."))
    if not request.user.is_authenticated:
        request.session[forms.SESSION_INVITATION] = secret
        AccountAdapter(request).stash_verified_email(request, found.email)
    return render(request, "accounts/invitation.html", {"invitation": found, "secret": secret})


@require_POST
@signed_in
def accept(request: Any, secret: str) -> HttpResponse:
    """Join."""
    found = members.find_invitation(secret, now=timezone.now())
    if found is None:
        raise errors.NotFound(_("This invitation is used or has expired. Ask for a new one."))
    actor = access.person(request.user, request)
    member = members.accept(invitation=found, user=request.user, actor=actor, now=timezone.now())
    request.session.pop(forms.SESSION_INVITATION, None)
    request.session[SESSION_ORGANISATION] = member.organisation_id
    users.prefer(user=request.user, last_organisation=member.organisation_id)
    return redirect("home")


def _member(request: Any, member_id: str) -> Member:
    row: Member = reads.members(request.access.organisation).get_or_404(member_id)  # type: ignore[attr-defined]
    return row


def _list(request: Any, form: forms.InviteForm) -> HttpResponse:
    home, may = request.access.organisation, request.access.allows("admin")
    open_invitations = list(reads.open_invitations(home).order_by("-pk")[: members.MOST_OPEN]) if may else []
    shown = {
        "page": paginate(reads.members(home), request.GET, oldest_first=True),
        "page_cursor": request.GET.get("cursor", ""),
        "invitations": open_invitations,
        "form": form,
        "roles": forms.roles(request.access),
        "may_change": may,
        "me": request.access.member,
        "now": timezone.now(),
        "tab": "members",
    }
    return render(request, "accounts/members.html", shown, status=status_of(form))
