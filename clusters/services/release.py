"""Ends a cluster: its jobs stop, its namespace goes, its nodes are freed when the site says all is gone."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection

from clusters.models import Cluster
from clusters.services import notices, ports
from clusters.services.lease import Lease
from core import errors
from k8s import errors as k8s_errors
from k8s.port import Port
from k8s.types import PyTorchJobInfo

POLL = timedelta(seconds=3)
COLLECT_TIME = timedelta(minutes=2)  # for what has ended but whose last log lines may still be read

_SHORTEN = """
UPDATE clusters_reservation SET span = tstzrange(lower(span), %s)
WHERE cluster_id = %s AND span @> %s::timestamptz AND lower(span) < %s
"""
_DROP = "DELETE FROM clusters_reservation WHERE cluster_id = %s AND lower(span) >= %s"


def drain_deadline(cluster: Cluster) -> datetime:
    """Return when a draining cluster is deleted with whatever still runs: half of the turnaround."""
    return cluster.state_since + settings.TURNAROUND / 2


def drain(held: Lease) -> bool:
    """Wait until no job is left; what stops the jobs is the beat of the floor above."""
    cluster, now = held.cluster, held.now
    if now < drain_deadline(cluster):
        try:
            left, _version = ports.port(cluster.site).list_pytorchjobs(cluster.object_name)
        except (k8s_errors.Error, errors.Unavailable):
            held.stay(due_at=min(held.pause(), drain_deadline(cluster)))
            return False
        running = [job for job in left if not _is_over(job)]
        if running or (left and now < cluster.state_since + COLLECT_TIME):
            held.stay(due_at=min(now + POLL, drain_deadline(cluster)))
            return False
    return held.move("releasing", due_at=now, event="releasing", message="cleaning_up")


def release(held: Lease) -> bool:
    """Delete the namespace, make sure that nothing is left, give the nodes back."""
    cluster, now = held.cluster, held.now
    try:
        clean = _clean(held, ports.port(cluster.site))
    except (k8s_errors.Error, errors.Unavailable):
        clean = False
    if not clean:
        late = now >= cluster.ends_at + settings.TURNAROUND
        held.stay(
            due_at=held.pause(),
            message="cleaning_late" if late else "cleaning_up",
            event="release_late" if late else None,
            also=lambda: notices.release_late(cluster, now),
        )
        return False
    return held.move(
        "released",
        due_at=None,
        event="released",
        released_at=now,
        gpus_used=0,
        also=lambda: _given_back(cluster, now),
    )


def _is_over(job: PyTorchJobInfo) -> bool:
    return job.condition("Succeeded") is not None or job.condition("Failed") is not None


def _clean(held: Lease, port: Port) -> bool:
    name = held.cluster.object_name
    held.check()
    port.delete("Namespace", "", name)
    if port.get("Namespace", "", name) is not None or port.list_objects(name):
        return False
    for node in port.list_nodes():
        if node.owner == name:
            held.check()
            port.set_node_owner(node.name, None, previous=name)
    return not any(node.owner == name for node in port.list_nodes())


def _given_back(cluster: Cluster, now: datetime) -> None:
    """Free what is left of the span and of the turnaround, and tell."""
    notices.released(cluster, now)
    with connection.cursor() as cursor:
        cursor.execute(_DROP, [cluster.pk, now])
        cursor.execute(_SHORTEN, [now, cluster.pk, now, now])
