"""Who asks, for which organisation, and what they may do: handed to views, passed on to services."""

from dataclasses import dataclass

from django.http import HttpRequest
from django.utils.translation import gettext as _

from accounts import rights
from accounts.models import Member, Organisation, Token, User
from core import context, errors
from core.actors import Actor


@dataclass(frozen=True, slots=True)
class Access:
    """A person in an organisation; ``scopes`` is None unless a token asks."""

    user: User
    member: Member
    organisation: Organisation
    role: str
    scopes: frozenset[str] | None
    actor: Actor

    def allows(self, right: str) -> bool:
        """Say whether role and scopes both allow it."""
        return rights.allowed(right, self.role, self.scopes)

    def require(self, right: str) -> None:
        """Raise Forbidden with a sentence that says what is missing."""
        if self.allows(right):
            return
        if right not in rights.of_role(self.role):
            raise errors.Forbidden(
                _("Your role ({role}) does not allow this. Ask an owner or admin of {organisation}.").format(
                    role=self.member.get_role_display(), organisation=self.organisation.name
                )
            )
        scope = rights.SCOPE_OF.get(right, right)
        raise errors.Forbidden(
            _("This token lacks the scope {scope}. Issue one that has it.").format(scope=scope)
        )


def of_token(token: Token, request: HttpRequest) -> Access:
    """Return the access of a token whose member, user and organisation are loaded."""
    user = token.member.user
    actor = Actor(
        kind="token",
        label=f"{user.email} ({token.name})"[:254],
        user_id=user.pk,
        token_id=token.pk,
        request_id=context.request_id.get(),
        ip=client_ip(request),
    )
    return Access(user, token.member, token.organisation, token.member.role, frozenset(token.scopes), actor)


def of_member(member: Member, request: HttpRequest) -> Access:
    """Return the access of a person who signed in; the member's user and organisation are loaded."""
    actor = person(member.user, request)
    return Access(member.user, member, member.organisation, member.role, None, actor)


def person(user: User, request: HttpRequest) -> Actor:
    """Return the actor of somebody at a page, in an organisation or not."""
    return Actor(
        kind="staff" if user.is_staff else "user",
        label=user.email,
        user_id=user.pk,
        request_id=context.request_id.get(),
        ip=client_ip(request),
    )


def client_ip(request: HttpRequest) -> str:
    """Return the address of the other end, empty where there is none (a local socket)."""
    return str(request.META.get("REMOTE_ADDR") or "")
