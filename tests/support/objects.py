"""One object per kind that addresses name, so that a test may visit every address.

The key is the fixed part of the address before the parameter (``jobs`` of ``jobs/<job_id>/logs``). Whoever
adds such an address adds a row here.
"""

from collections.abc import Callable

from django.utils import timezone

from accounts.access import Access
from accounts.models import Member
from accounts.services import members
from core import ids
from jobs.services import demo as environments
from jobs.services import secrets, submit
from tests.support import fleet, people, shop


def _member(owner: Member) -> str:
    return str(people.member(owner.organisation, "viewer").pk)


def _access(owner: Member) -> Access:
    return Access(owner.user, owner, owner.organisation, owner.role, None, people.actor(owner))


def _invitation(owner: Member) -> str:
    email = f"{ids.new('guest')}@berth.example"
    return str(members.invite(access=_access(owner), email=email, role="viewer", now=timezone.now()).pk)


def _shop(owner: Member) -> shop.Shop:
    opened = shop.open_shop()
    return shop.Shop(opened.site, opened.node_type, owner)


def _job(owner: Member) -> str:
    environments.seed(now=timezone.now())
    cluster = fleet.cluster(organisation=owner.organisation)
    spec = {"cluster": cluster.pk, "code": {"inline": "print(1)"}, "command": ["python", "main.py"]}
    return str(submit.submit(access=_access(owner), data=spec, now=timezone.now()).pk)


def _secret(owner: Member) -> str:
    name = ids.new("NAME").upper()
    return str(secrets.put(access=_access(owner), name=name, value="x", now=timezone.now()).name)


FACTORIES: dict[str, Callable[[Member], str]] = {
    "tokens": lambda owner: str(people.token(owner)[0].pk),
    "members": _member,
    "invitations": _invitation,
    "clusters": lambda owner: str(fleet.cluster(organisation=owner.organisation).pk),
    "quotes": lambda owner: str(shop.quote(_shop(owner)).pk),
    "orders": lambda owner: str(shop.waiting_order(_shop(owner)).pk),
    "invoices": lambda owner: str(shop.paid_order(_shop(owner)).invoice.pk),
    "jobs": _job,
    "secrets": _secret,
    "sites": lambda owner: fleet.site().slug,  # staff's: no member finds one
}
