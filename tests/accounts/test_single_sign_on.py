"""Single sign-on by OpenID Connect, with a provider of our own on loopback; and the audit of sign-in."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import AuditEntry, Member, User
from tests.support import oidc, people

pytestmark = pytest.mark.django_db


@pytest.fixture
def provider(settings: Any) -> Iterator[oidc.Provider]:
    with oidc.running() as running:
        settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": [running.app]}}
        yield running


def come_back(client: Client, code: str = "good") -> Any:
    """Press the button, and return as the provider sends one back."""
    away = client.post(reverse("openid_connect_login", args=["sso"]))
    assert away.status_code == 302
    query = parse_qs(urlsplit(away["Location"]).query)
    assert query["client_id"] == [oidc.CLIENT_ID]
    assert "code_challenge" in query or "state" in query
    callback = reverse("openid_connect_callback", args=["sso"])
    return client.get(callback, {"code": code, "state": query["state"][0]})


def test_somebody_new_comes_in_and_is_led_to_make_an_organisation(provider: oidc.Provider) -> None:
    client = Client()
    assert come_back(client).status_code == 302
    person = User.objects.get()
    assert (person.email, person.has_usable_password()) == ("sso@berth.example", False)
    assert client.get(reverse("accounts:organisation"))["Location"] == reverse("accounts:welcome")
    order = {"name": "Lab", "currency": "CNY", "zone": "Asia/Shanghai"}
    client.post(reverse("accounts:welcome"), order)
    assert Member.objects.get().role == "owner"
    again = Client()
    come_back(again)
    assert again.get(reverse("accounts:organisation")).status_code == 200
    assert User.objects.count() == 1


def test_an_address_that_has_a_password_is_not_taken_over(provider: oidc.Provider) -> None:
    owner = people.member(email="sso@berth.example")
    client = Client()
    come_back(client)
    assert client.get(reverse("accounts:organisation")).status_code == 302
    assert User.objects.get() == owner.user
    assert "_auth_user_id" not in client.session


def test_a_code_that_the_provider_refuses_and_a_foreign_state_open_nothing(provider: oidc.Provider) -> None:
    client = Client()
    assert come_back(client, "bad").status_code == 401
    callback = reverse("openid_connect_callback", args=["sso"])
    assert Client().get(callback, {"code": "good", "state": "x"}).status_code == 401
    assert not User.objects.exists()


def test_sign_in_and_changes_of_it_are_audited() -> None:
    member = people.member()
    client = Client()
    client.post(reverse("account_login"), {"login": member.user.email, "password": people.PASSWORD})
    fresh = "another-long-word-for-tests"
    form = {"oldpassword": people.PASSWORD, "password1": fresh, "password2": fresh}
    client.post(reverse("account_change_password"), form)
    rows = AuditEntry.objects.order_by("pk")
    assert [row.action for row in rows] == ["user.signed_in", "user.password_changed"]
    assert {row.user_id for row in rows} == {member.user_id}
    assert fresh not in str([vars(row) for row in rows])
