"""Language, theme and organisation: switched without scripts, remembered on the person and in a cookie."""

import pytest
from django.test import Client

from accounts.models import Member
from tests.support import people

pytestmark = pytest.mark.django_db


def test_the_language_of_a_person_follows_to_another_browser() -> None:
    member = people.member()
    first = people.browser(member)
    answer = first.post("/language", {"language": "zh-hans", "next": "/organisation/switch"})
    assert (answer.status_code, answer["Location"]) == (302, "/organisation/switch")
    assert answer.cookies["language"].value == "zh-hans"
    second = people.browser(member).post("/theme", {"theme": "dark"})
    assert second["Content-Language"] == "zh-hans"


def test_nobody_keeps_language_and_theme_in_cookies() -> None:
    client = Client()
    client.post("/language", {"language": "zh-hans"})
    client.post("/theme", {"theme": "dark"})
    assert client.cookies["theme"].value == "dark"
    assert client.get("/api/v1/nothing")["Content-Language"] == "zh-hans"


def test_theme_is_remembered_on_the_person() -> None:
    member = people.member()
    people.browser(member).post("/theme", {"theme": "dark"})
    member.user.refresh_from_db()
    assert member.user.theme == "dark"


def test_the_way_back_never_leaves_the_portal() -> None:
    for target in ("https://evil.example/", "//evil.example", "javascript:alert(1)"):
        assert Client().post("/theme", {"theme": "dark", "next": target})["Location"] == "/"


def test_only_ones_own_organisations_can_be_switched_to() -> None:
    member = people.member()
    other = Member.objects.create(organisation=people.organisation(), user=member.user, role="viewer")
    client = people.browser(member)
    assert client.post("/organisation/switch", {"organisation": other.organisation_id}).status_code == 302
    member.user.refresh_from_db()
    assert member.user.last_organisation == other.organisation_id


@pytest.mark.parametrize("address", ["/language", "/theme", "/organisation/switch"])
def test_forms_need_their_csrf_token(address: str) -> None:
    client = people.browser(people.member(), enforce_csrf_checks=True)
    assert client.post(address, {"language": "en", "theme": "", "organisation": "x"}).status_code == 403
