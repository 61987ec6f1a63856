"""Renews the tables of docs/states.md from the state machines."""

from typing import Any

from django.core.management.base import BaseCommand

from portal import states_page


class Command(BaseCommand):
    """``manage.py states``, after a change in some ``states.py``."""

    help = "Renew the tables of docs/states.md."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        page = states_page.PAGE.read_text()
        states_page.PAGE.write_text(states_page.renewed(page))
