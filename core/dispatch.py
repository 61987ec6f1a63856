"""Hints to the workers: a task sent after the commit. Losing one only delays work, the beat finds the row."""

import logging
from typing import Any

from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError

logger = logging.getLogger(__name__)


def after_commit(task: str, *args: Any) -> None:
    """Send a task by its name once the transaction stands; a broker that is away is logged, not raised."""
    transaction.on_commit(lambda: _send(task, args))


def _send(task: str, args: tuple[Any, ...]) -> None:
    try:
        current_app.send_task(task, args=args, retry=False, ignore_result=True)
    except (OperationalError, OSError) as error:
        logger.warning("hint not sent", extra={"task": task, "error": str(error)})
