"""Hints to the workers: a task sent after the commit. Losing one only delays work, the beat finds the row.

A thread of each process sends them, so that no request waits for the broker. The first leaves at once,
those that come within a moment leave together, and a hint that waits already is not sent twice.
"""

import atexit
import logging
import os
import threading
from typing import Any

from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError

logger = logging.getLogger(__name__)
LONGEST = 10_000  # hints that wait while the broker is away; what comes then is left to the beat
MOMENT = 0.05  # seconds
GOODBYE_SECONDS = 2.0

Hint = tuple[str, tuple[Any, ...]]


class Outbox:
    """Hints that wait, in order, each once, and the thread that sends them."""

    def __init__(self) -> None:
        self._waiting: dict[Hint, None] = {}
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._sending = False
        self._hurried = 0  # how many wait in `flush`

    def put(self, hint: Hint) -> None:
        """Take a hint; the first one starts the thread."""
        with self._changed:
            if len(self._waiting) < LONGEST:
                self._waiting[hint] = None
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="hints", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def flush(self, seconds: float) -> bool:
        """Wait until nothing waits; say whether it came to that in time."""
        with self._changed:
            self._hurried += 1
            self._changed.notify_all()
            try:
                return self._changed.wait_for(lambda: not self._waiting and not self._sending, seconds)
            finally:
                self._hurried -= 1

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: bool(self._waiting))
                hints, self._waiting, self._sending = list(self._waiting), {}, True
            for task, args in hints:
                _send(task, args)
            with self._changed:
                self._sending = False
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._hurried > 0, MOMENT)


def after_commit(task: str, *args: Any) -> None:
    """Have a task sent by its name once the transaction stands; a broker that is away is only logged."""
    transaction.on_commit(lambda: _outbox.put((task, args)))


def flush(seconds: float = GOODBYE_SECONDS) -> bool:
    """Wait until the hints of this process are sent; say whether they were in time."""
    return _outbox.flush(seconds)


def _send(task: str, args: tuple[Any, ...]) -> None:
    try:
        current_app.send_task(task, args=args, retry=False, ignore_result=True)
    except (OperationalError, OSError) as error:
        logger.warning("hint not sent", extra={"task": task, "error": str(error)})
    except Exception:  # the thread must outlive a hint that cannot be sent
        logger.exception("hint not sent", extra={"task": task})


def _after_fork() -> None:
    """Give a child an outbox of its own: thread and waiting hints stayed with the parent."""
    global _outbox
    _outbox = Outbox()


_outbox = Outbox()
os.register_at_fork(after_in_child=_after_fork)
atexit.register(flush)
