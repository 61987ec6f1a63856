"""Which environments a site can run; jobs/services/lookup.py has the same rule for one job."""

from collections.abc import Sequence

from django.db.models import Prefetch, Q, QuerySet
from django.utils.translation import gettext as _

from clusters.models import Site
from core import errors
from jobs.models import Environment


def usable_at(site: Site) -> QuerySet[Environment]:
    """Return the environments that a site can run, the default first."""
    return (
        Environment.objects.filter(backend=site.backend)
        .filter(Q(sites=None) | Q(sites=site))
        .order_by("-is_default", "position", "slug")
        .distinct()
    )


def not_usable(site_id: str) -> errors.Invalid:
    """Return the error of an environment that a site cannot run; it names those that it can."""
    site = Site.objects.get(pk=site_id)
    known = ", ".join(usable_at(site).values_list("slug", flat=True)) or "–"
    return errors.Invalid.field(
        "environment",
        "not_usable",
        _("The site of this cluster cannot run this environment. It has: %(names)s.") % {"names": known},
    )


def listed(backends: Sequence[str]) -> list[tuple[Environment, list[str]]]:
    """Return all environments with the slugs of the sites that run them, those of the given backends first.

    An environment that names no site runs at every site of its backend.
    """
    sites = list(Site.objects.filter(active=True).order_by("slug"))
    rows = Environment.objects.prefetch_related(Prefetch("sites", Site.objects.order_by("slug")))
    order = rows.order_by("-is_default", "position", "slug")
    found = []
    for row in sorted(order, key=lambda one: one.backend not in backends):
        where = list(row.sites.all()) or [site for site in sites if site.backend == row.backend]
        found.append((row, [site.slug for site in where]))
    return found
