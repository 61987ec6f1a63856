"""Visits every address as a stranger, as nobody, as a viewer and without a CSRF token."""

from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from accounts.models import Member
from tests.support import addresses, objects, people

pytestmark = pytest.mark.django_db

# What anybody may open. Sign-in (account/…) is allauth's and is walked in tests/accounts/test_sign_in.py.
PUBLIC = {
    "",  # the start page: a catalogue for nobody
    "catalogue",
    "language",
    "theme",
    "livez",
    "readyz",
    "metrics",  # has a key of its own
    "api/v1/schema/",
    "api/v1/docs/",
    "stripe/webhook",  # signed by Stripe
    "invitations/<str:secret>",  # the secret is the right
    "invitations/<str:secret>/accept",
    "internal/code/<str:ticket>",  # the ticket is the right
    "api/v1/<path:rest>",  # nothing: 404 for everybody
}
# Written by anybody who signed in: one's own choices, no row of an organisation.
OWN = {
    "language",
    "theme",
    "profile",
    "organisation/new",
    "organisation/switch",
    "notifications/read",
}
# Name a file in the query, which the owner's cluster here does not have; tests of jobs read real ones.
FILES = {"api/v1/clusters/<str:cluster_id>/files/content", "clusters/<str:cluster_id>/data/file"}
ADDRESSES = [a for a in addresses.every() if not a.route.startswith("account/")]
OBJECTS = [a for a in ADDRESSES if a.parameters and a.route not in PUBLIC]
STAFF = {a.route for a in ADDRESSES if a.route.startswith("staff/")}  # no member's, whatever they name
PAGES = [a for a in ADDRESSES if not a.in_api and a.route not in PUBLIC]


def named(found: list[addresses.Address]) -> Any:
    return pytest.mark.parametrize("address", found, ids=[a.route or "/" for a in found])


def filled(address: addresses.Address, owner: Member) -> str:
    """Return the address of objects that belong to the owner's organisation."""
    values = {}
    for kind, name in address.parameters:
        factory = objects.FACTORIES.get(kind)
        assert factory, f"{address.route}: add a factory for {kind!r} to tests/support/objects.py"
        values[name] = factory(owner)
    return address.path(values)


def placeholder(address: addresses.Address) -> str:
    return address.path({name: "x" for _kind, name in address.parameters})


@named(OBJECTS)
def test_strangers_find_nothing(address: addresses.Address) -> None:
    owner, stranger = people.member(), people.member()
    path = filled(address, owner)
    if address.in_api:
        client: Any = people.api(stranger)
        methods = [m.lower() for m in address.rights]
        assert methods, f"{address.route} names no rights"
    else:
        client, methods = people.browser(stranger), ["get", "post"]
    answers = {method: getattr(client, method)(path).status_code for method in methods}
    assert set(answers.values()) <= {404, 405}, answers
    assert 404 in answers.values(), answers


@named([a for a in OBJECTS if (not a.in_api or "GET" in a.rights) and a.route not in FILES | STAFF])
def test_the_owner_finds_what_strangers_do_not(address: addresses.Address) -> None:
    owner = people.member()
    path = filled(address, owner)
    client: Any = people.api(owner) if address.in_api else people.browser(owner)
    answer = client.get(path)
    assert answer.status_code in {200, 302, 405}, (address.route, answer.content[:300])


@named([a for a in ADDRESSES if a.in_api and a.route not in PUBLIC])
def test_nobody_gets_401_from_the_api(address: addresses.Address) -> None:
    assert address.rights, f"{address.route} does not derive from BerthAPIView"
    for method in address.rights:
        answer = getattr(APIClient(), method.lower())(placeholder(address))
        assert answer.status_code == 401, (method, answer.status_code)
        assert answer["WWW-Authenticate"].startswith("Bearer")
        assert answer["Content-Type"] == "application/problem+json"


@named(PAGES)
def test_nobody_is_sent_to_the_sign_in(address: addresses.Address) -> None:
    client = Client(raise_request_exception=False)
    answers = [client.get(placeholder(address)), client.post(placeholder(address))]
    for answer in answers:
        if answer.status_code == 302:
            assert answer["Location"].startswith("/account/login/")
        else:
            assert answer.status_code in {404, 405}, answer.status_code
    assert {answer.status_code for answer in answers} != {405}


@named([a for a in ADDRESSES if a.in_api and set(a.rights) - {"GET"}])
def test_a_viewer_writes_nothing_through_the_api(address: addresses.Address) -> None:
    viewer = people.member(role="viewer")
    client = people.api(viewer)
    for method in set(address.rights) - {"GET"}:
        answer = getattr(client, method.lower())(placeholder(address))
        assert answer.status_code == 403, (method, answer.status_code)
        assert answer.json()["code"] == "forbidden"


@named([a for a in PAGES if a.route not in OWN])
def test_a_viewer_writes_nothing_through_pages(address: addresses.Address) -> None:
    owner = people.member()
    viewer = people.member(owner.organisation, "viewer")
    answer = people.browser(viewer).post(filled(address, owner), {})
    assert answer.status_code in {403, 404, 405}, answer.status_code


@named([a for a in ADDRESSES if not a.in_api and a.route not in PUBLIC - {"language", "theme"}])
def test_every_form_needs_its_csrf_token(address: addresses.Address) -> None:
    client = people.browser(people.member(), enforce_csrf_checks=True)
    assert client.post(placeholder(address), {"name": "x"}).status_code in {403, 405}
