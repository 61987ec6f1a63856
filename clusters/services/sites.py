"""Sites that staff add: their credentials are judged, sealed and never shown again, and the site is asked."""

import json
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from accounts.services import audit
from clusters import site_words
from clusters.models import Site
from clusters.services import ports, site_checks
from core import errors, resealing, sealing
from core.actors import Actor
from k8s import kubeconfig

LONGEST_KUBECONFIG = kubeconfig.LONGEST


def add(
    *,
    slug: str,
    name: str,
    city: str,
    zone: str,
    gpu_resource: str,
    storage_class: str,
    text: str,
    in_cluster: bool,
    actor: Actor,
    now: datetime,
) -> Site:
    """Write a Kubernetes site that sells nothing yet; raises Invalid with every fault of its kubeconfig."""
    site = Site(
        slug=slug,
        name=name,
        city=city,
        zone=zone,
        gpu_resource=gpu_resource,
        storage_class=storage_class,
        backend="kubernetes",
        active=False,
    )
    _take(site, text, in_cluster, now)
    try:
        with transaction.atomic():
            site.save(force_insert=True)
            _audit(actor, "site.added", site, now)
    except IntegrityError as error:
        if "slug" not in str(error):
            raise
        raise errors.Invalid.field("slug", "taken", _("There is a site of this short name.")) from error
    return site


def replace_access(*, site_id: str, text: str, in_cluster: bool, actor: Actor, now: datetime) -> Site:
    """Give a site new credentials; raises Invalid with every fault of the kubeconfig."""
    with transaction.atomic():
        site = Site.objects.select_for_update().get(pk=site_id, backend="kubernetes")
        _take(site, text, in_cluster, now)
        site.findings, site.checked_at = [], None
        site.save(update_fields=["kubeconfig", "in_cluster", "server", "findings", "checked_at"])
        _audit(actor, "site.access_replaced", site, now)
    return site


def check(*, site_id: str, now: datetime) -> Site:
    """Ask the site and keep what was found; a site that does not answer is a finding, not an error."""
    site = Site.objects.get(pk=site_id, backend="kubernetes")
    try:
        found = site_checks.run(site, ports.kubernetes(site))
    except errors.Unavailable:
        found = [site_checks.Finding("unusable", "problem")]
    site.findings, site.checked_at = [one.as_json() for one in found], now
    asked = Site.objects.filter(pk=site.pk, kubeconfig=site.kubeconfig, in_cluster=site.in_cluster)
    if not asked.update(findings=site.findings, checked_at=now):
        site.refresh_from_db()  # new credentials came meanwhile; what the old ones found says nothing of them
    return site


def set_active(*, site_id: str, active: bool, actor: Actor, now: datetime) -> Site:
    """Begin or end to sell a site; raises InvalidState while its newest check found a problem."""
    with transaction.atomic():
        site = Site.objects.select_for_update().get(pk=site_id, backend="kubernetes")
        if active and (site.checked_at is None or site_checks.problems(site)):
            raise errors.InvalidState(_("Check the site first: only one without problems can be sold."))
        if active and settings.TEST_GATEWAY:
            raise errors.InvalidState(
                _("The test gateway is on: anybody could take real machines without paying.")
            )
        if site.active != active:
            site.active = active
            site.save(update_fields=["active"])
            _audit(actor, "site.opened" if active else "site.closed", site, now)
    return site


def reseal() -> int:
    """Seal credentials anew that an older key sealed; return how many."""
    return resealing.rows(Site.objects.all(), "kubeconfig", lambda site: ports.seal_context(site.pk))


def _take(site: Site, text: str, in_cluster: bool, now: datetime) -> None:
    site.in_cluster, site.kubeconfig, site.server = in_cluster, "", ""
    if in_cluster:
        return
    checked = kubeconfig.check(text, now=now, production=not settings.DEMO)
    if checked.config is None:
        faults = [
            errors.FieldError("kubeconfig", one.code, site_words.kubeconfig(one.code, one.values))
            for one in checked.findings
            if one.severity == "refused"
        ]
        raise errors.Invalid(_("This kubeconfig cannot be used."), errors=faults)
    body = json.dumps(checked.config).encode()
    site.kubeconfig = sealing.seal(body, context=ports.seal_context(site.pk))
    site.server = checked.server[:300]


def _audit(actor: Actor, action: str, site: Site, now: datetime) -> None:
    names = ("slug", "server", "in_cluster", "active")
    after: dict[str, Any] = {name: getattr(site, name) for name in names}
    audit.record(actor=actor, action=action, target=site, organisation=None, after=after, now=now)
