"""Fills an installation with demo people, prices, nodes and templates; a repeat changes nothing."""

import json
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from accounts.services import demo as people
from billing.services import demo as prices
from clusters.services import demo as fleet
from jobs.services import demo as work
from portal.local import secrets


class Command(BaseCommand):
    """``manage.py seed_demo``: part of every `make run`."""

    help = "Fill in the demo: sign-ins, catalogue, nodes of the embedded site, prices, job templates."

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.DEMO:
            raise CommandError("This is no demo installation. Set DEMO=1 to make it one.")
        file = settings.DATA_DIR / secrets.FILE
        try:
            passwords = json.loads(file.read_text())["demo_passwords"]
        except FileNotFoundError as error:
            raise CommandError(f"{file} is missing: `make run` makes it with the demo passwords.") from error
        now = timezone.now()
        people.seed(passwords=passwords, now=now)
        fleet.seed(now=now)
        prices.seed(now=now)
        work.seed(now=now)
        self.stdout.write("The demo is in place.")
