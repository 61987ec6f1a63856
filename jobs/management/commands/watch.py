"""Watches the sites: what happens to runs and, unless `collect` does that, what they print."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from jobs.management import threads
from jobs.services import collector, watcher


class Command(BaseCommand):
    """``manage.py watch`` works until SIGTERM or Ctrl-C; killed at any line, the next one goes on."""

    help = "Watch the sites and collect logs, curves and checkpoints."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument(
            "--without-collector", action="store_true", help="leave logs and curves to `manage.py collect`"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        work: threads.Work = {"watcher": watcher.run}
        if not options["without_collector"]:
            work["collector"] = collector.run
        threads.until_told(work, ready=lambda: self._say("watching"))

    def _say(self, words: str) -> None:
        self.stdout.write(words)
        self.stdout.flush()
