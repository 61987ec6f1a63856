"""Watches the sites: what happens to runs, and what they print. One process for all sites."""

import signal
import threading
from types import FrameType
from typing import Any

from django.core.management.base import BaseCommand

from jobs.services import collector, watcher


class Command(BaseCommand):
    """``manage.py watch`` works until SIGTERM or Ctrl-C; killed at any line, the next one goes on."""

    help = "Watch the sites and collect logs, curves and checkpoints."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        stop = threading.Event()

        def leave(_signal: int, _frame: FrameType | None) -> None:
            stop.set()

        signal.signal(signal.SIGTERM, leave)
        signal.signal(signal.SIGINT, leave)
        threads = [
            threading.Thread(target=watcher.run, args=(stop,), name="watcher"),
            threading.Thread(target=collector.run, args=(stop,), name="collector"),
        ]
        for thread in threads:
            thread.start()
        self.stdout.write("watching")
        self.stdout.flush()
        # A thread that ends by itself met what it cannot handle: leave, so that the process starts anew.
        while not stop.wait(1.0):
            if not all(thread.is_alive() for thread in threads):
                stop.set()
        for thread in threads:
            thread.join(timeout=15)
