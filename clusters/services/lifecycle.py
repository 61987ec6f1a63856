"""Moves a cluster through its life: one `step` does what is due and says when to look again.

The row is the truth: a step claims it, calls the site outside of any transaction, and applies the result only
while the claim stands. Every call is repeatable, so a process killed at any line only delays work.
"""

from collections.abc import Callable
from datetime import datetime, timedelta

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.services import audit
from clusters import states
from clusters.models import Cluster
from clusters.services import events, lease, notices, provisioning, release
from clusters.services.lease import Lease
from core import claims, dispatch, errors
from core.actors import Actor

WARNINGS = (timedelta(hours=24), timedelta(hours=1))
HELD_AGAIN = timedelta(hours=1)


def step(cluster_id: str, now: datetime) -> None:
    """Do all that is due for a cluster; called twice at once, one of the two does nothing."""
    for _turn in states.CLUSTER.states:
        held = lease.take(cluster_id, now)
        if held is None:
            return
        try:
            moved = HANDLERS[held.cluster.status](held)
        except lease.Lost:
            return
        if not moved:
            return


def due(now: datetime, limit: int) -> list[str]:
    """Return ids of clusters that wait for a step, the longest waiting first."""
    rows = Cluster.objects.filter(claims.free(now), due_at__lte=now).order_by("due_at")
    return list(rows.values_list("pk", flat=True)[:limit])


def retry(*, cluster: Cluster, actor: Actor, now: datetime) -> None:
    """Start the set-up of a failed cluster again, when staff have mended what stood in its way."""
    with transaction.atomic():
        changed = Cluster.objects.filter(pk=cluster.pk, status="failed").update(
            status="provisioning", state_since=now, due_at=now, attempts=0, message="setting_up"
        )
        if not changed:
            cluster.refresh_from_db()
            raise errors.InvalidState(
                _("Only a cluster whose set-up failed can be started again."),
                extra={"state": cluster.status},
            )
        events.record(cluster, "retried", now=now, actor=actor)
        audit.record(
            actor=actor,
            action="cluster.retried",
            target=cluster.pk,
            organisation=cluster.organisation,
            before={"status": "failed"},
            after={"status": "provisioning"},
            now=now,
        )
        dispatch.after_commit("clusters.step", cluster.pk)
    cluster.refresh_from_db()


def next_look(cluster: Cluster, now: datetime) -> datetime:
    """Return when a ready cluster must be looked at: its next warning, else its end."""
    moments = [cluster.ends_at - before for before in WARNINGS]
    return min((m for m in moments if m > now), default=cluster.ends_at)


def _held(held: Lease) -> bool:
    """Only billing ends a hold; here one that was forgotten for long is reported."""
    expires = held.cluster.hold_expires_at
    if expires is not None and expires < held.now:
        notices.hold_forgotten(held.cluster, held.now)
    held.stay(due_at=max(held.now, expires or held.now) + HELD_AGAIN)
    return False


def _scheduled(held: Lease) -> bool:
    if held.now < held.cluster.starts_at:
        held.stay(due_at=held.cluster.starts_at)
        return False
    return held.move("provisioning", due_at=held.now, event="provisioning", message="setting_up")


def _ready(held: Lease) -> bool:
    cluster, now = held.cluster, held.now
    if now >= cluster.ends_at:
        return held.move("draining", due_at=now, event="draining", message="stopping_jobs")
    passed = [
        before
        for before in WARNINGS
        if cluster.starts_at < cluster.ends_at - before <= now
        and (cluster.warned_at is None or cluster.warned_at < cluster.ends_at - before)
    ]
    with transaction.atomic():
        if passed:
            stood = held.stay(due_at=next_look(cluster, now), warned_at=now)
            if stood:
                events.record(cluster, "warned", now=now)
                notices.ending(cluster, now)
        else:
            held.stay(due_at=next_look(cluster, now))
    return False


def _failed(held: Lease) -> bool:
    """What was set up in part is cleaned away when the term ends, unless staff started it again."""
    if held.now < held.cluster.ends_at:
        held.stay(due_at=held.cluster.ends_at)
        return False
    return held.move("releasing", due_at=held.now, event="releasing", message="cleaning_up")


HANDLERS: dict[str, Callable[[Lease], bool]] = {
    "held": _held,
    "scheduled": _scheduled,
    "provisioning": lambda held: provisioning.provision(held, next_look),
    "ready": _ready,
    "draining": release.drain,
    "releasing": release.release,
    "failed": _failed,
}
