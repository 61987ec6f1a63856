"""Seals all secrets at rest with the newest key."""

from typing import Any

from django.core.management.base import BaseCommand

from accounts.services import second_factors
from billing.services import payments
from clusters.services import sites
from jobs.services import secrets


class Command(BaseCommand):
    """``manage.py reseal``: after it, keys behind the first of SEALING_KEYS may go."""

    help = (
        "Seal sites, secrets, payments and second factors with the first key of SEALING_KEYS. "
        "Stored answers to idempotency keys live a day: keep the old key that long."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        for what, reseal in {
            "sites": sites.reseal,
            "secrets of jobs": secrets.reseal,
            "payments": payments.reseal,
            "second factors": second_factors.reseal,
        }.items():
            self.stdout.write(f"{what}: {reseal()} sealed anew")
