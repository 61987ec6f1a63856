"""Forms of people's pages: they read input; services decide and their faults come back to the fields."""

from typing import Any

from allauth.core import context as allauth_context
from django import forms
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts import access, rights
from accounts.models import User
from accounts.models.organisation import Role
from accounts.services import members, organisations
from core import errors
from core.money import CURRENCIES

SESSION_INVITATION = "invitation"
LIFETIMES = [("30", _("30 days")), ("90", _("90 days")), ("365", _("One year")), ("", _("No end"))]


def take_faults(form: forms.Form, error: errors.BerthError) -> None:
    """Put the faults that a service found onto the fields of a form."""
    for fault in error.errors:
        form.add_error(fault.field if fault.field in form.fields else None, fault.detail)
    if not error.errors:
        form.add_error(None, error.detail)


class SignupForm(forms.Form):
    """What sign-up asks beside address and password; an invitation takes the place of an organisation."""

    name = forms.CharField(label=_("Your name"), max_length=100, required=False)
    organisation = forms.CharField(label=_("Organisation"), max_length=100)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if invitation_of(allauth_context.request):
            del self.fields["organisation"]

    def signup(self, request: HttpRequest, user: User) -> None:
        """Finish sign-up: the organisation is made, or the invitation accepted."""
        now = timezone.now()
        actor = access.person(user, request)
        user.name = self.cleaned_data["name"]
        user.language = getattr(request, "LANGUAGE_CODE", "")
        user.save(update_fields=["name", "language"])
        if invitation := invitation_of(request):
            members.accept(invitation=invitation, user=user, actor=actor, now=now)
            del request.session[SESSION_INVITATION]
        else:
            organisations.create(name=self.cleaned_data["organisation"], owner=user, actor=actor, now=now)


def invitation_of(request: HttpRequest | None) -> Any:
    """Return the open invitation that this visitor followed, or None."""
    secret = request.session.get(SESSION_INVITATION) if request is not None else None
    return members.find_invitation(secret, now=timezone.now()) if secret else None


class NewOrganisationForm(forms.Form):
    """A further organisation, or the first of somebody who has none."""

    name = forms.CharField(label=_("Name of the organisation"), max_length=100)
    currency = forms.ChoiceField(label=_("Currency of invoices"), choices=[(c, c) for c in CURRENCIES])
    zone = forms.ChoiceField(
        label=_("Time zone"), choices=lambda: [(z, z) for z in sorted(organisations.zones())]
    )


class OrganisationForm(forms.Form):
    """Name and billing data; zone and currency stay once an order stands."""

    name = forms.CharField(label=_("Name"), max_length=100)
    country = forms.CharField(label=_("Country"), max_length=2, help_text=_("Two letters, such as CN."))
    address = forms.CharField(
        label=_("Billing address"), max_length=1000, required=False, widget=forms.Textarea({"rows": 3})
    )
    tax_id = forms.CharField(label=_("Tax number"), max_length=40, required=False)
    zone = forms.ChoiceField(
        label=_("Time zone"), choices=lambda: [(z, z) for z in sorted(organisations.zones())]
    )
    currency = forms.ChoiceField(label=_("Currency"), choices=[(c, c) for c in CURRENCIES])

    def __init__(self, *args: Any, fixed: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if fixed:
            for name in organisations.FIXED_BY_ORDER:
                self.fields[name].disabled = True
                self.fields[name].help_text = _("Fixed since the first order.")


class InviteForm(forms.Form):
    """An address and a role."""

    email = forms.EmailField(label=_("Address"), max_length=254)
    role = forms.ChoiceField(label=_("Role"))

    def __init__(self, *args: Any, asker: access.Access, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["role"].choices = roles(asker)  # type: ignore[attr-defined]
        self.fields["role"].initial = Role.DEVELOPER


def roles(asker: access.Access) -> list[tuple[str, Any]]:
    """Return the roles that somebody may give."""
    return [(value, label) for value, label in Role.choices if value != Role.OWNER or asker.allows("owner")]


class ProjectForm(forms.Form):
    """A project that jobs can name."""

    slug = forms.CharField(
        label=_("Short name"), max_length=40, help_text=_("Small letters, digits, hyphens.")
    )
    name = forms.CharField(label=_("Name"), max_length=100, required=False)


class TokenForm(forms.Form):
    """A token for automation."""

    name = forms.CharField(label=_("Name"), max_length=100, help_text=_("Where it will be used."))
    scopes = forms.MultipleChoiceField(label=_("Scopes"), widget=forms.CheckboxSelectMultiple)
    days = forms.ChoiceField(label=_("Expires after"), choices=LIFETIMES, required=False, initial="90")

    def __init__(self, *args: Any, asker: access.Access, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        useful = [scope for scope in rights.SCOPES if scope in rights.of_role(asker.role)]
        self.fields["scopes"].choices = [(scope, scope) for scope in useful]  # type: ignore[attr-defined]


class ProfileForm(forms.Form):
    """What a person says about themselves."""

    name = forms.CharField(label=_("Your name"), max_length=100, required=False)
