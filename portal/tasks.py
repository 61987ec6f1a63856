"""The sign of life that needs beat, broker and worker together."""

from celery import shared_task

from core import heartbeat

WORKER = "worker"


@shared_task(name="portal.heartbeat", ignore_result=True)
def note_heartbeat() -> None:
    """Say that beat sends and that a worker works."""
    heartbeat.beat(WORKER)
