"""The people of a demo installation; passwords come from the caller."""

from collections.abc import Mapping
from datetime import datetime

from allauth.account.models import EmailAddress
from django.contrib.auth.models import Group
from django.db import transaction

from accounts.models import Member, User
from accounts.services import organisations
from core.actors import Actor

OWNER = "demo@berth.example"
VIEWER = "viewer@berth.example"
OTHER = "other@berth.example"
STAFF = "staff@berth.example"
PEOPLE = {
    OWNER: "Demo Owner",
    VIEWER: "Demo Viewer",
    OTHER: "Other Owner",
    STAFF: "Demo Staff",
}
STAFF_GROUPS = ("capacity", "finance", "support")


def seed(*, passwords: Mapping[str, str], now: datetime) -> None:
    """Make the four sign-ins and their organisations; a repeat only sets the passwords again."""
    actor = Actor.system("demo")
    with transaction.atomic():
        users = {email: _user(email, passwords[email]) for email in PEOPLE}
        home = Member.objects.filter(user=users[OWNER]).first() or organisations.create(
            name="Demo Lab", owner=users[OWNER], actor=actor, now=now
        )
        Member.objects.get_or_create(
            organisation=home.organisation, user=users[VIEWER], defaults={"role": "viewer"}
        )
        if not Member.objects.filter(user=users[OTHER]).exists():
            organisations.create(
                name="Other Works",
                owner=users[OTHER],
                actor=actor,
                now=now,
                zone="America/New_York",
                currency="USD",
            )
        users[STAFF].groups.set([Group.objects.get_or_create(name=name)[0] for name in STAFF_GROUPS])


def _user(email: str, password: str) -> User:
    user = User.objects.filter(email=email).first()
    if user is None:
        user = User.objects.create_user(email, password, name=PEOPLE[email], is_staff=email == STAFF)
    elif not user.check_password(password):
        user.set_password(password)
        user.save(update_fields=["password"])
    EmailAddress.objects.get_or_create(user=user, email=email, defaults={"verified": True, "primary": True})
    return user
