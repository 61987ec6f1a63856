"""Sign-up, sign-in, second factors and single sign-on, as a browser without scripts walks them."""

import re
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import hotp_value, yield_hotp_counters_from_time
from django.core import mail as outbox
from django.test import Client, override_settings
from django.urls import reverse

from accounts import tasks
from accounts.models import AuditEntry, MailMessage, Member
from tests.support import people

pytestmark = pytest.mark.django_db


def sign_up(client: Client, **changes: str) -> Any:
    form = {
        "email": "new@berth.example",
        "password1": people.PASSWORD,
        "password2": people.PASSWORD,
        "name": "New Person",
        "organisation": "新实验室",
    }
    return client.post(reverse("account_signup"), {**form, **changes})


def sign_in(client: Client, email: str, password: str = people.PASSWORD) -> Any:
    return client.post(reverse("account_login"), {"login": email, "password": password})


def confirm(client: Client) -> None:
    """Give the password once more, as changes of sign-in ask for."""
    client.post(reverse("account_reauthenticate"), {"password": people.PASSWORD})


def totp_code(secret: str) -> str:
    return f"{hotp_value(secret, next(iter(yield_hotp_counters_from_time()))):06d}"


def test_sign_up_makes_an_organisation_and_a_link_opens_it() -> None:
    client = Client(headers={"Accept-Language": "zh-Hans"})
    assert sign_up(client).status_code == 302
    member = Member.objects.select_related("user", "organisation").get()
    assert (member.role, member.organisation.name, member.user.language) == ("owner", "新实验室", "zh-hans")
    assert AuditEntry.objects.get(action="organisation.created").actor_label == "new@berth.example"
    assert sign_in(Client(), "new@berth.example")["Location"] == reverse("account_email_verification_sent")
    tasks.send_waiting_mail()
    found = re.search(r"http://\S+(/account/confirm-email/\S+)", str(outbox.outbox[0].body))
    assert found is not None
    assert Client().post(found[1]).status_code == 302
    assert sign_in(client, "new@berth.example")["Location"] == "/"


def test_a_name_that_is_taken_is_not_told_to_strangers() -> None:
    people.user("new@berth.example")
    answer = sign_up(Client())
    assert answer["Location"] == reverse("account_email_verification_sent")
    assert Member.objects.count() == 0


@pytest.mark.parametrize(
    "changes",
    [{"organisation": ""}, {"password1": "short", "password2": "short"}, {"email": "x"}, {"name": "\x00"}],
)
def test_a_wrong_sign_up_says_what_to_change(changes: dict[str, str]) -> None:
    answer = sign_up(Client(), **changes)
    assert answer.status_code == 200
    assert 'class="errors"' in answer.content.decode()
    assert not Member.objects.exists()


def test_a_wrong_password_is_refused_and_many_are_held_up() -> None:
    person = people.user()
    client = Client()
    assert sign_in(client, person.email, "wrong").status_code == 200
    statuses = [sign_in(client, person.email, f"wrong{n}").status_code for n in range(12)]
    assert "_auth_user_id" not in client.session
    assert statuses[-1] in {200, 429}
    assert sign_in(client, person.email).status_code in {200, 429}


def test_messages_of_sign_in_leave_through_the_mail_rows() -> None:
    person = people.user()
    Client().post(reverse("account_reset_password"), {"email": person.email})
    assert outbox.outbox == []
    assert MailMessage.objects.get().to == person.email


def activate_totp(client: Client) -> str:
    confirm(client)
    page = client.get(reverse("mfa_activate_totp"))
    assert page.status_code == 200
    secret = str(client.session["mfa.totp.secret"])
    answer = client.post(reverse("mfa_activate_totp"), {"code": totp_code(secret)})
    assert answer.status_code == 302
    return secret


def test_a_second_factor_is_set_up_asked_for_and_replaced_by_a_recovery_code() -> None:
    member = people.member()
    client = Client()
    sign_in(client, member.user.email)
    secret = activate_totp(client)
    assert client.get(reverse("mfa_index")).status_code == 200
    codes = client.get(reverse("mfa_view_recovery_codes")).content.decode()
    recovery = re.search(r"\b([0-9a-f]{8})\b", codes)
    assert recovery is not None
    assert secret not in str(Authenticator.objects.get(type="totp").data)

    second = Client()
    assert sign_in(second, member.user.email)["Location"] == reverse("mfa_authenticate")
    assert second.get(reverse("accounts:organisation")).status_code == 302
    assert second.post(reverse("mfa_authenticate"), {"code": "000000"}).status_code == 200
    assert second.post(reverse("mfa_authenticate"), {"code": recovery[1]}).status_code == 302
    assert second.get(reverse("accounts:organisation")).status_code == 200
    third = Client()
    sign_in(third, member.user.email)
    assert third.post(reverse("mfa_authenticate"), {"code": recovery[1]}).status_code == 200


def test_staff_see_nothing_before_they_have_a_second_factor(settings: Any) -> None:
    settings.STAFF_MFA = True
    staff = people.staff()
    client = Client()
    sign_in(client, staff.email)
    assert client.get("/_ui/")["Location"] == reverse("mfa_index")
    assert client.post(reverse("theme"), {"theme": "dark"})["Location"] == "/"
    activate_totp(client)
    assert client.get("/_ui/").status_code == 200


def test_customers_and_demo_staff_need_none(settings: Any) -> None:
    settings.STAFF_MFA = False
    client = Client()
    client.force_login(people.staff())
    assert client.get("/_ui/").status_code == 200


SIGN_IN_PAGES = ["account_login", "account_signup", "account_reset_password", "account_reset_password_done"]
OWN_PAGES = [
    "account_email",
    "account_change_password",
    "account_logout",
    "account_reauthenticate",
    "mfa_index",
    "mfa_activate_totp",
    "mfa_add_webauthn",
    "socialaccount_connections",
]


@pytest.mark.parametrize("language", ["en", "zh-hans"])
@pytest.mark.parametrize("name", [*SIGN_IN_PAGES, *OWN_PAGES])
def test_every_page_of_sign_in_wears_our_look(name: str, language: str) -> None:
    client = Client()
    client.cookies["language"] = language
    if name in OWN_PAGES:
        sign_in(client, people.member().user.email)
        confirm(client)
    answer = client.get(reverse(name))
    text = answer.content.decode()
    assert answer.status_code == 200
    assert f'<html lang="{language}"' in text
    assert "berth/tokens.css" in text
    assert "<h1>" in text
    for tag in re.findall(r"<form[^>]*>.*?</form>", text, re.S):
        assert 'method="get"' in tag or "csrfmiddlewaretoken" in tag
    assert not re.search(r"<script(?![^>]*(src=|application/json))[^>]*>", text)
    assert not re.search(r'\son\w+="', text)


def test_single_sign_on_is_offered_where_it_is_set_up() -> None:
    app = {"provider_id": "sso", "name": "Company", "client_id": "c", "secret": "s"}
    app["settings"] = {"server_url": "http://127.0.0.1:1"}  # type: ignore[assignment]
    assert "Company" not in Client().get(reverse("account_login")).content.decode()
    with override_settings(SOCIALACCOUNT_PROVIDERS={"openid_connect": {"APPS": [app]}}):
        assert "Company" in Client().get(reverse("account_login")).content.decode()
