"""Which environments a cluster can run, and which one a job gets when it names none."""

from collections.abc import Sequence

from django.db.models import Prefetch, Q, QuerySet
from django.utils.translation import gettext as _

from clusters.models import Cluster, Site
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


def choose(cluster: Cluster, slug: str) -> Environment:
    """Return the environment of this slug, or the default; Invalid when the site cannot run it."""
    rows = usable_at(cluster.site)
    found = (rows.filter(slug=slug) if slug else rows).first()
    if found is not None:
        return found
    known = ", ".join(rows.values_list("slug", flat=True)) or "–"
    raise errors.Invalid.field(
        "environment",
        "not_usable",
        _("The site of this cluster cannot run this environment. It has: %(names)s.") % {"names": known},
    )


def listed(backends: Sequence[str]) -> list[Environment]:
    """Return all environments with their sites, those of the given backends first."""
    rows = Environment.objects.prefetch_related(Prefetch("sites", Site.objects.order_by("slug")))
    order = rows.order_by("-is_default", "position", "slug")
    return sorted(order, key=lambda one: one.backend not in backends)
