"""What people are told about a cluster: its organisation by notices, staff by mail where they must act."""

import logging
import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from accounts.models import User
from accounts.services import mail, notifications
from clusters import words
from clusters.models import Cluster, Node

MANAGERS = ("owner", "admin")
logger = logging.getLogger(__name__)


def ready(cluster: Cluster, now: datetime) -> None:
    """Tell that training can begin."""
    _tell(cluster, "cluster.ready", "good", now, mail_to=(*MANAGERS, "developer"))


def late(cluster: Cluster, now: datetime) -> None:
    """Tell that setting up takes longer than promised: from now on it is downtime."""
    _tell(cluster, "cluster.late", "attention", now, mail_to=MANAGERS)
    _alarm("cluster_late", _set_up_late, cluster, now)


def failed(cluster: Cluster, reason: str, now: datetime) -> None:
    """Tell that the set-up failed."""
    once = cluster.state_since.isoformat()
    _tell(cluster, "cluster.failed", "bad", now, once=once, mail_to=MANAGERS, reason=words.source(reason))
    _alarm("cluster_failed", _set_up_failed, cluster, now, once=once)


def ending(cluster: Cluster, now: datetime) -> None:
    """Tell that the term is about to end."""
    _tell(cluster, "cluster.ending", "attention", now, once=now.isoformat(), mail_to=(*MANAGERS, "billing"))


def released(cluster: Cluster, now: datetime) -> None:
    """Tell that the cluster is gone."""
    _tell(cluster, "cluster.released", "info", now)


def node_replaced(cluster: Cluster, node: Node, now: datetime) -> None:
    """Tell staff that a node could not be given to its next cluster."""
    _alarm("node_not_clean", _node_not_clean, cluster, now, once=node.pk, node=node.name)


def release_late(cluster: Cluster, now: datetime) -> None:
    """Tell staff that the site is not clean although the turnaround is over."""
    _alarm("release_late", _not_clean, cluster, now)


def hold_forgotten(cluster: Cluster, now: datetime) -> None:
    """Tell staff that a hold has run out long ago and nobody has ended it."""
    _alarm("hold_forgotten", _hold_forgotten, cluster, now)


def _set_up_late() -> str:
    return _("Setting up a cluster takes longer than 15 minutes. It goes on; look at the site.")


def _set_up_failed() -> str:
    return _("The set-up of a cluster failed. Mend the cause, then start it again.")


def _node_not_clean() -> str:
    return _("A node was not free when its next cluster began, so another one was taken. Look at the node.")


def _not_clean() -> str:
    return _("A cluster is not clean at its site although its turnaround is over. Its nodes stay taken.")


def _hold_forgotten() -> str:
    return _("A hold ran out and was not ended. Look at the order and at the beat of billing.")


def _tell(
    cluster: Cluster,
    kind: str,
    severity: str,
    now: datetime,
    *,
    once: str = "",
    mail_to: tuple[str, ...] = (),
    **params: Any,
) -> None:
    notifications.notify(
        organisation=cluster.organisation,
        kind=kind,
        severity=severity,
        params={"name": cluster.name, **params},
        link=f"/clusters/{cluster.pk}",
        once_key=":".join(filter(None, [kind, cluster.pk, once])),
        mail_to_roles=mail_to,
        now=now,
    )


def _alarm(
    kind: str, what: Callable[[], str], cluster: Cluster, now: datetime, *, once: str = "", node: str = ""
) -> None:
    logger.error(kind, extra={"cluster": cluster.pk, "site": cluster.site_id, "node": node})
    for person in User.objects.filter(is_staff=True, is_active=True).order_by("pk"):
        with mail.language_of(person):
            sentence = what()
            details = "\n".join(filter(None, [cluster.pk, cluster.site.name, node]))
            mail.write(
                to=person.email,
                subject=f"{re.split('[.。]', sentence)[0]} ({cluster.pk})",
                body=f"{sentence}\n\n{details}\n\n{settings.PUBLIC_URL}",
                once_key=":".join(filter(None, ["alarm", kind, cluster.pk, once, person.pk])),
                now=now,
            )
