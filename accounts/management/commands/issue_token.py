"""Prints a new token and nothing else, so that a script may take it as it stands."""

from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from accounts import rights
from accounts.models import Member
from accounts.services import tokens
from core import errors
from core.actors import Actor


class Command(BaseCommand):
    """``manage.py issue_token demo@berth.example --scope jobs:read --scope jobs:write``."""

    help = "Issue an API token for a member and print it."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("email", help="the member's address")
        parser.add_argument(
            "--scope",
            action="append",
            default=[],
            metavar="SCOPE",
            help="may be given several times: " + " ".join(rights.SCOPES),
        )
        parser.add_argument("--name", default="command line", help="shown in the list of tokens")
        parser.add_argument("--days", type=int, help="expires after so many days (default: never)")
        parser.add_argument("--organisation", default="", help="id, for people who have several")

    def handle(self, *args: Any, **options: Any) -> None:
        """Issue and print."""
        now = timezone.now()
        if not options["scope"]:
            raise CommandError("Name at least one --scope: " + " ".join(rights.SCOPES))
        days = options["days"]
        if days is not None and not 1 <= days <= 3650:
            raise CommandError("--days is a whole number from 1 to 3650.")
        try:
            _token, secret = tokens.issue(
                member=self._member(options["email"], options["organisation"]),
                name=options["name"],
                scopes=options["scope"],
                expires_at=now + timedelta(days=days) if days else None,
                actor=Actor.system("issue_token"),
                now=now,
            )
        except errors.Invalid as error:
            raise CommandError(str(error.detail)) from error
        self.stdout.write(secret)

    def _member(self, email: str, organisation: str) -> Member:
        members = Member.objects.filter(user__email=email.lower()).select_related("organisation", "user")
        if organisation:
            members = members.filter(organisation=organisation)
        found = list(members[:2])
        if not found:
            raise CommandError(f"{email} is not a member of {organisation or 'any organisation'}.")
        if len(found) > 1:
            raise CommandError(f"{email} has several organisations; name one with --organisation.")
        return found[0]
