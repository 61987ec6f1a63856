"""Sites for staff: add one, see what a check found and what to do, replace its access, begin to sell it."""

from typing import Any

from django import forms
from django.contrib import messages
from django.core.validators import RegexValidator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts import access as who
from accounts.forms import take_faults
from accounts.services import organisations
from accounts.views.base import status_of
from clusters import site_words
from clusters.models import Site
from clusters.services import site_checks, sites
from core import errors
from portal.views.staff import staff

RESOURCE = RegexValidator(
    r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?/[A-Za-z0-9]([-_.A-Za-z0-9]*[A-Za-z0-9])?$",
    gettext_lazy("A resource is named like nvidia.com/gpu."),
)
CLASS = RegexValidator(
    r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$", gettext_lazy("A storage class has lower-case letters and digits.")
)


class AccessForm(forms.Form):
    """How Berth reaches a site."""

    in_cluster = forms.BooleanField(
        label=gettext_lazy("Berth runs in this cluster: use the account of its pod"), required=False
    )
    kubeconfig = forms.CharField(
        label=gettext_lazy("Kubeconfig"),
        widget=forms.Textarea(
            attrs={"rows": 10, "class": "code", "spellcheck": "false", "autocomplete": "off"}
        ),
        required=False,
        max_length=sites.LONGEST_KUBECONFIG,
        help_text=gettext_lazy(
            "With the data itself inside and a token or client certificate. It is kept encrypted and not"
            " shown again."
        ),
    )


class SiteForm(AccessForm):
    """A site that is added."""

    slug = forms.SlugField(label=gettext_lazy("Short name"), max_length=40)
    name = forms.CharField(label=gettext_lazy("Name"), max_length=60)
    city = forms.CharField(label=gettext_lazy("City"), max_length=60, required=False)
    zone = forms.CharField(label=gettext_lazy("Time zone"), max_length=64, initial="Asia/Shanghai")
    gpu_resource = forms.CharField(
        label=gettext_lazy("GPU resource"), max_length=60, initial="nvidia.com/gpu", validators=[RESOURCE]
    )
    storage_class = forms.CharField(
        label=gettext_lazy("Storage class"),
        max_length=100,
        required=False,
        validators=[CLASS],
        help_text=gettext_lazy("It serves ReadWriteMany volumes. Empty: the default of the site."),
    )
    field_order = [
        "slug",
        "name",
        "city",
        "zone",
        "gpu_resource",
        "storage_class",
        "in_cluster",
        "kubeconfig",
    ]

    def clean_slug(self) -> str:
        """Refuse the word that stands for this page in an address."""
        slug = str(self.cleaned_data["slug"])
        if slug == "new":
            raise forms.ValidationError(_("Choose another short name."))
        return slug

    def clean_zone(self) -> str:
        """Return a zone of the tz database."""
        zone = str(self.cleaned_data["zone"])
        if zone not in organisations.zones():
            raise forms.ValidationError(_("There is no time zone %(zone)s.") % {"zone": zone})
        return zone


@require_safe
@staff
def index(request: HttpRequest) -> HttpResponse:
    """List all sites; there are few."""
    rows = [{"site": one, "problems": site_checks.problems(one)} for one in Site.objects.order_by("slug")]
    return render(request, "portal/staff/sites.html", {"rows": rows})


@sensitive_post_parameters("kubeconfig")
@require_http_methods(["GET", "HEAD", "POST"])
@staff
def new(request: Any) -> HttpResponse:
    """Add a site and ask it at once."""
    form = SiteForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        now = timezone.now()
        given = dict(form.cleaned_data)
        text = given.pop("kubeconfig")
        try:
            site = sites.add(text=text, actor=who.person(request.user, request), now=now, **given)
        except errors.BerthError as error:
            take_faults(form, error)
        else:
            sites.check(site_id=site.pk, now=timezone.now())
            return redirect("staff-site", site=site.slug)
    return render(request, "portal/staff/site_new.html", {"form": form}, status=status_of(form))


@require_safe
@staff
def show(request: HttpRequest, site: str) -> HttpResponse:
    """Show what the newest check found, and what to do about it."""
    return _show(request, get_object_or_404(Site, slug=site), AccessForm())


@require_POST
@staff
def check(request: HttpRequest, site: str) -> HttpResponse:
    """Ask a site now."""
    row = get_object_or_404(Site, slug=site, backend="kubernetes")
    sites.check(site_id=row.pk, now=timezone.now())
    return redirect("staff-site", site=site)


@sensitive_post_parameters("kubeconfig")
@require_POST
@staff
def access(request: Any, site: str) -> HttpResponse:
    """Replace the credentials of a site and ask it at once."""
    row = get_object_or_404(Site, slug=site, backend="kubernetes")
    form = AccessForm(request.POST)
    if form.is_valid():
        actor, given = who.person(request.user, request), form.cleaned_data
        try:
            sites.replace_access(
                site_id=row.pk,
                text=given["kubeconfig"],
                in_cluster=given["in_cluster"],
                actor=actor,
                now=timezone.now(),
            )
        except errors.BerthError as error:
            take_faults(form, error)
        else:
            sites.check(site_id=row.pk, now=timezone.now())
            messages.success(request, _("The access was replaced and the site was checked."))
            return redirect("staff-site", site=site)
    return _show(request, row, form)


@require_POST
@staff
def active(request: Any, site: str) -> HttpResponse:
    """Begin or end to sell a site."""
    row = get_object_or_404(Site, slug=site, backend="kubernetes")
    wanted = request.POST.get("active") == "1"
    try:
        sites.set_active(
            site_id=row.pk, active=wanted, actor=who.person(request.user, request), now=timezone.now()
        )
    except errors.BerthError as error:
        messages.error(request, error.detail)
    return redirect("staff-site", site=site)


def _show(request: HttpRequest, site: Site, form: AccessForm) -> HttpResponse:
    tones = {"ok": "good", "warning": "attention", "problem": "bad"}
    found = []
    for one in site.findings:
        said, advice = site_words.finding(one["code"], one["values"])
        found.append({"tone": tones[one["severity"]], "said": said, "advice": advice})
    context = {"site": site, "findings": found, "problems": site_checks.problems(site), "form": form}
    return render(request, "portal/staff/site.html", context, status=status_of(form))
