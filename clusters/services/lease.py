"""A claim on a cluster: who steps it holds the row by a token, calls the site, applies under the token."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from clusters import states
from clusters.models import Cluster
from clusters.services import events
from core import claims

CLAIM_SECONDS = 45  # anew before each call that changes the site; what a killed worker left waits so long
LONGEST_PAUSE = timedelta(seconds=60)


class Lost(Exception):
    """Somebody else holds the cluster now, or its state has changed: whatever we found is dropped."""


@dataclass(frozen=True, slots=True)
class Lease:
    """A claimed cluster as it was read under the claim."""

    cluster: Cluster
    token: str
    now: datetime
    taken: float = field(default_factory=time.monotonic)

    def check(self) -> None:
        """Raise Lost unless the claim still stands, and renew it: asked before calls that change the site."""
        until = self.now + timedelta(seconds=time.monotonic() - self.taken + CLAIM_SECONDS)
        rows = claims.owned(Cluster, self.cluster.pk, self.token).filter(status=self.cluster.status)
        if not rows.update(claim_until=until):
            raise Lost

    def move(
        self,
        status: str,
        *,
        due_at: datetime | None,
        event: str,
        message: str = "",
        also: Callable[[], None] | None = None,
        **changes: Any,
    ) -> bool:
        """Go to another state, write its event and what belongs to it, in one transaction."""
        if not states.CLUSTER.allows(self.cluster.status, status):
            raise ValueError(f"no cluster goes from {self.cluster.status} to {status}")
        with transaction.atomic():
            moved = self._apply(
                status=status, state_since=self.now, due_at=due_at, attempts=0, message=message, **changes
            )
            if moved:
                events.record(self.cluster, event, message=message, now=self.now)
                if also:
                    also()
        return moved

    def stay(
        self,
        *,
        due_at: datetime,
        message: str | None = None,
        event: str | None = None,
        also: Callable[[], None] | None = None,
        **changes: Any,
    ) -> bool:
        """Keep the state and come back at ``due_at``; an event is written when the message changes."""
        if message is not None:
            changes["message"] = message
        with transaction.atomic():
            applied = self._apply(due_at=due_at, attempts=self.cluster.attempts + 1, **changes)
            if applied and event and message != self.cluster.message:
                events.record(self.cluster, event, message=message or "", now=self.now)
                if also:
                    also()
        return applied

    def pause(self) -> datetime:
        """Return when to try again: seconds at first, never more than a minute."""
        return self.now + min(LONGEST_PAUSE, timedelta(seconds=2 ** min(self.cluster.attempts, 6)))

    def _apply(self, **changes: Any) -> bool:
        rows = claims.owned(Cluster, self.cluster.pk, self.token).filter(status=self.cluster.status)
        return bool(rows.update(claim_token="", claim_until=None, **changes))


def take(cluster_id: str, now: datetime) -> Lease | None:
    """Claim a cluster that is due; None when nothing is to be done or somebody else does it."""
    due = Cluster.objects.filter(pk=cluster_id, due_at__lte=now)
    token = claims.take(due, now=now, seconds=CLAIM_SECONDS)
    if token is None:
        return None
    cluster = (
        claims.owned(Cluster, cluster_id, token).select_related("site", "node_type", "organisation").first()
    )
    return None if cluster is None else Lease(cluster, token, now)
