"""What people are told about a cluster: rows for its organisation, an alarm where staff must act."""

import logging
from datetime import datetime

from accounts.models import Notification
from clusters.models import Cluster, Node

logger = logging.getLogger(__name__)


def ready(cluster: Cluster, now: datetime) -> None:
    """Tell that training can begin."""
    _tell(cluster, "cluster_ready", "good", now)


def ending(cluster: Cluster, now: datetime) -> None:
    """Tell that the term is about to end."""
    _tell(
        cluster, "cluster_ending", "attention", now, once=now.isoformat(), ends_at=cluster.ends_at.isoformat()
    )


def ended(cluster: Cluster, now: datetime) -> None:
    """Tell that the term has ended and jobs are being stopped."""
    _tell(cluster, "cluster_ended", "info", now, once=cluster.ends_at.isoformat())


def failed(cluster: Cluster, now: datetime) -> None:
    """Tell the customer that the set-up failed, and staff that they must act."""
    _tell(cluster, "cluster_failed", "bad", now, once=cluster.state_since.isoformat())
    _alarm("cluster set-up failed", cluster)


def node_replaced(cluster: Cluster, node: Node, now: datetime) -> None:
    """Tell staff that a node could not be given to its next cluster."""
    _alarm("node was not free for its next cluster", cluster, node=node.name)


def release_late(cluster: Cluster, now: datetime) -> None:
    """Tell staff that the site is not clean although the turnaround is over."""
    _alarm("cluster is not clean after its turnaround", cluster)


def hold_forgotten(cluster: Cluster, now: datetime) -> None:
    """Tell staff that a hold has run out long ago and nobody has ended it."""
    _alarm("hold was not ended", cluster)


def _tell(
    cluster: Cluster, kind: str, severity: str, now: datetime, *, once: str = "", **params: str
) -> None:
    Notification.objects.get_or_create(
        once_key=":".join(filter(None, [kind, cluster.pk, once])),
        defaults={
            "organisation": cluster.organisation,
            "kind": kind,
            "severity": severity,
            "params": {"cluster": cluster.name, **params},
            "link": f"/clusters/{cluster.pk}",
            "created_at": now,
        },
    )


def _alarm(what: str, cluster: Cluster, **details: str) -> None:
    logger.error(what, extra={"cluster": cluster.pk, "site": cluster.site_id, **details})
