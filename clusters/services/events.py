"""The timeline of a cluster: one row for each thing that happened to it."""

from datetime import datetime

from clusters.models import Cluster, ClusterEvent
from core.actors import Actor

SYSTEM = Actor.system("Berth")


def record(cluster: Cluster, kind: str, *, message: str = "", now: datetime, actor: Actor = SYSTEM) -> None:
    """Write one event; the sentence for a kind stands in clusters/words.py."""
    ClusterEvent.objects.create(
        cluster=cluster, at=now, kind=kind, actor=actor.label[:254], message=message[:300]
    )
