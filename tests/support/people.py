"""Organisations, members and their clients for tests."""

from collections.abc import Iterable
from itertools import count
from typing import Any

from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from accounts import rights
from accounts.models import Member, Organisation, Project, Token, User
from accounts.services import tokens
from core.actors import Actor

PASSWORD = "a-long-word-for-tests"
_numbers = count(1)


def organisation(name: str = "", **fields: Any) -> Organisation:
    """Return an organisation with its default project."""
    made = Organisation.objects.create(name=name or f"Organisation {next(_numbers)}", **fields)
    Project.objects.create(organisation=made, slug="default", name="Default")
    return made


def user(email: str = "", *, password: str | None = PASSWORD, **fields: Any) -> User:
    """Return a person who can sign in."""
    from allauth.account.models import EmailAddress

    made = User.objects.create_user(email or f"person{next(_numbers)}@berth.example", password, **fields)
    EmailAddress.objects.create(user=made, email=made.email, verified=True, primary=True)
    return made


def member(of: Organisation | None = None, role: str = "owner", **fields: Any) -> Member:
    """Return a member with a role, of a new organisation unless one is given."""
    home = of or organisation()
    return Member.objects.create(organisation=home, user=user(**fields), role=role)


def actor(of: Member) -> Actor:
    """Return the actor of a member at a page."""
    return Actor(kind="user", label=of.user.email, user_id=of.user.pk, request_id="test")


def token(of: Member, scopes: Iterable[str] = rights.SCOPES, **fields: Any) -> tuple[Token, str]:
    """Return a token and its secret."""
    return tokens.issue(
        member=of, name="tests", scopes=scopes, expires_at=None, actor=actor(of), now=timezone.now(), **fields
    )


def api(of: Member, scopes: Iterable[str] = rights.SCOPES) -> APIClient:
    """Return a client of the REST API with a token of this member."""
    client = APIClient(raise_request_exception=False)
    client.default_format = "json"
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {token(of, scopes)[1]}")
    return client


def browser(of: Member, **options: Any) -> Client:
    """Return a client of the pages, signed in as this member."""
    client = Client(**options)
    client.force_login(of.user)
    return client


def staff(email: str = "", **fields: Any) -> User:
    """Return a member of staff."""
    return user(email, is_staff=True, **fields)
