"""Hints from services and the beat: which cluster to look at. What is to be done stands in its row."""

import logging

from celery import shared_task
from django.utils import timezone
from kombu.exceptions import OperationalError

from clusters.services import lifecycle

BATCH = 200
STALE_SECONDS = 30  # a hint that waited this long was sent again by the beat

logger = logging.getLogger(__name__)


@shared_task(name="clusters.step")
def step(cluster_id: str) -> None:
    """Do what is due for one cluster."""
    lifecycle.step(cluster_id, timezone.now())


@shared_task(name="clusters.step_due")
def step_due() -> None:
    """Send a hint for each cluster that is due, a limited batch at a time."""
    for cluster_id in lifecycle.due(timezone.now(), BATCH):
        try:
            step.apply_async((cluster_id,), expires=STALE_SECONDS, retry=False)
        except (OperationalError, OSError) as error:
            logger.warning("hint not sent", extra={"cluster": cluster_id, "error": str(error)})
            return
