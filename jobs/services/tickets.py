"""Signed tickets with which a pod fetches the code of its job: one object, for minutes, for one cluster."""

from datetime import datetime, timedelta

from django.conf import settings
from django.core import signing

from clusters.models import Cluster
from core import errors
from jobs.models import Upload

LIFETIME = timedelta(minutes=30)  # pods may wait for their image first
_SALT = "jobs.code"
_USABLE = ("ready", "draining")


def code_url(*, upload: str, cluster: str, now: datetime) -> str:
    """Return the address from which an archive can be fetched until the ticket runs out."""
    ends = int((now + LIFETIME).timestamp())
    ticket = signing.dumps([upload, cluster, ends], salt=_SALT)
    return f"{settings.INTERNAL_URL}/internal/code/{ticket}"


def redeem(ticket: str, *, now: datetime) -> Upload:
    """Return what a ticket opens; NotFound when it is forged, too old, or its cluster is not in use."""
    try:
        upload_id, cluster_id, ends = signing.loads(ticket, salt=_SALT)
    except signing.BadSignature as error:
        raise errors.NotFound("This ticket opens nothing.") from error
    cluster = Cluster.objects.filter(pk=cluster_id, status__in=_USABLE).first()
    if now.timestamp() > ends or cluster is None:
        raise errors.NotFound("This ticket opens nothing any more.")
    upload = Upload.objects.filter(pk=upload_id, organisation_id=cluster.organisation_id).first()
    if upload is None:
        raise errors.NotFound("This ticket opens nothing.")
    return upload
