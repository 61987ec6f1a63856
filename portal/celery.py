"""The Celery application: tasks are hints, the beat is the guarantee."""

import os
from typing import Any

from celery import Celery, signals

from core import context, heartbeat

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")

app = Celery("berth")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["accounts", "clusters", "billing", "jobs", "portal"])


@signals.setup_logging.connect
def _keep_logging(**kwargs: Any) -> None:
    """Let Django's LOGGING stand: a receiver of this signal keeps Celery from configuring its own."""


@signals.task_prerun.connect
def _name_request(task_id: str, **kwargs: Any) -> None:
    """Log lines of a task carry its id as the request id."""
    context.request_id.set(context.accept_request_id(task_id))


@signals.beat_init.connect
def _beat_at_once(**kwargs: Any) -> None:
    """Send the first heartbeat now instead of after its first interval; each task sent is a sign of life."""
    signals.before_task_publish.connect(_beat_lives, weak=False)
    app.send_task("portal.heartbeat", ignore_result=True, expires=60)


def _beat_lives(**kwargs: Any) -> None:
    heartbeat.sign("beat")


@signals.heartbeat_sent.connect
def _worker_lives(**kwargs: Any) -> None:
    """Every two seconds, by the loop that hands tasks out; how busy the pool is does not matter."""
    heartbeat.sign("worker")


@signals.worker_init.connect
def _verify(**kwargs: Any) -> None:
    """Refuse to start with settings that must not stand together."""
    from portal import startup

    startup.verify()
