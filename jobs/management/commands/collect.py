"""Collects what runs print and save; several processes share the runs by shard."""

from functools import partial
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from jobs.management import threads
from jobs.services import collector


class Command(BaseCommand):
    """``manage.py collect --shard 0 --shards 2``, beside ``manage.py watch --without-collector``."""

    help = "Collect logs, curves and checkpoints of one shard of the runs."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("--shard", type=int, default=0, help="counted from 0")
        parser.add_argument("--shards", type=int, default=1, help="how many collectors there are")

    def handle(self, *args: Any, **options: Any) -> None:
        shard, shards = options["shard"], options["shards"]
        if not 0 <= shard < shards:
            raise CommandError(f"--shard is a number from 0 to {shards - 1}, for --shards {shards}.")
        run = partial(collector.run, shard=shard, shards=shards)
        threads.until_told({"collector": run}, ready=lambda: self._say(f"collecting {shard} of {shards}"))

    def _say(self, words: str) -> None:
        self.stdout.write(words)
        self.stdout.flush()
