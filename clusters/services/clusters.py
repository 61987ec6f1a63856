"""What a customer may change of a cluster: its name, and whether it renews itself."""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.services import audit
from clusters import states
from clusters.models import Cluster
from clusters.services import events
from core import errors
from core.actors import Actor


def change(
    *,
    cluster: Cluster,
    name: str | None = None,
    auto_renew: bool | None = None,
    actor: Actor,
    now: datetime,
) -> Cluster:
    """Rename a cluster, or switch its renewal; what is None stays as it is."""
    with transaction.atomic():
        row = Cluster.objects.select_for_update(of=("self",)).get(pk=cluster.pk)
        wanted = {"name": name, "auto_renew": auto_renew}
        after: dict[str, Any] = {
            field: value
            for field, value in wanted.items()
            if value is not None and value != getattr(row, field)
        }
        if after.get("auto_renew") and row.status in states.CLOSED:
            raise errors.InvalidState(
                _("This cluster has ended, so it cannot be renewed."), extra={"state": row.status}
            )
        if after:
            before = {field: getattr(row, field) for field in after}
            Cluster.objects.filter(pk=row.pk).update(**after)
            audit.record(
                actor=actor,
                action="cluster.changed",
                target=row.pk,
                organisation=row.organisation,
                before=before,
                after=after,
                now=now,
            )
            if "name" in after:
                events.record(row, "renamed", now=now, actor=actor)
            if "auto_renew" in after:
                kind = "auto_renew_on" if after["auto_renew"] else "auto_renew_off"
                events.record(row, kind, now=now, actor=actor)
    cluster.refresh_from_db()
    return cluster
