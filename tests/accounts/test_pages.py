"""Pages of people: what each role sees and may do, that every write is audited and every form guarded."""

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from accounts.models import AuditEntry, Member, Organisation, Project, Token
from tests.support import people

pytestmark = pytest.mark.django_db
READ = ["organisation", "members", "projects", "tokens", "notifications", "profile", "welcome"]


@pytest.mark.parametrize("name", [*READ, "audit"])
@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_every_page_opens_for_an_owner_in_both_languages(name: str, language: str) -> None:
    client = people.browser(people.member(language=language))
    answer = client.get(reverse(f"accounts:{name}"))
    assert answer.status_code == 200
    assert f'<html lang="{language}"' in answer.content.decode()


@pytest.mark.parametrize("name", READ)
def test_every_page_opens_for_a_viewer(name: str) -> None:
    assert people.browser(people.member(role="viewer")).get(reverse(f"accounts:{name}")).status_code == 200


@pytest.mark.parametrize("name", [*READ, "audit"])
def test_nobody_is_sent_to_the_sign_in(name: str) -> None:
    address = reverse(f"accounts:{name}")
    answer = Client().get(address)
    assert answer.status_code == 302
    assert answer["Location"] == f"{reverse('account_login')}?next={address}"


def test_somebody_without_an_organisation_is_led_to_make_one() -> None:
    person = people.user()
    client = Client()
    client.force_login(person)
    assert client.get(reverse("accounts:tokens"))["Location"] == reverse("accounts:welcome")
    order = {"name": "研究所 🚢", "currency": "USD", "zone": "America/New_York"}
    assert client.post(reverse("accounts:welcome"), order).status_code == 302
    member = Member.objects.get(user=person)
    assert (member.role, member.organisation.currency) == ("owner", "USD")
    assert Project.objects.filter(organisation=member.organisation, slug="default").exists()
    assert AuditEntry.objects.get(action="organisation.created").user_id == person.pk


def test_staff_have_no_organisation_pages(settings: Any) -> None:
    settings.STAFF_MFA = False
    client = Client()
    client.force_login(people.staff())
    assert client.get(reverse("accounts:organisation")).status_code == 404
    assert client.get(reverse("accounts:welcome")).status_code == 404
    assert client.get(reverse("accounts:profile")).status_code == 200


def change(client: Client, **values: str) -> Any:
    given = {"name": "Lab", "country": "CN", "zone": "Asia/Shanghai", "currency": "CNY", **values}
    return client.post(reverse("accounts:organisation"), given)


def test_billing_data_change_with_before_and_after() -> None:
    member = people.member(people.organisation("Lab"), "admin")
    assert change(people.browser(member), name="New lab", tax_id="91-X").status_code == 302
    entry = AuditEntry.objects.get(action="organisation.updated")
    assert entry.before == {"name": "Lab", "tax_id": ""}
    assert entry.after == {"name": "New lab", "tax_id": "91-X"}
    assert (entry.organisation, entry.actor_label) == (member.organisation, member.user.email)
    assert entry.request_id


def test_zone_and_currency_stay_after_the_first_order() -> None:
    from django.utils import timezone

    home = people.organisation("Lab", terms_fixed_at=timezone.now())
    change(people.browser(people.member(home)), currency="USD", zone="UTC", name="Other")
    home.refresh_from_db()
    assert (home.currency, home.zone, home.name) == ("CNY", "Asia/Shanghai", "Other")


@pytest.mark.parametrize(
    "values", [{"name": ""}, {"country": "cn1"}, {"zone": "Mars/Base"}, {"name": "a\x00"}]
)
def test_wrong_data_is_refused_with_a_sentence(values: dict[str, str]) -> None:
    answer = change(people.browser(people.member()), **values)
    assert answer.status_code == 422
    assert 'class="errors"' in answer.content.decode()


def test_a_token_is_shown_once_and_works() -> None:
    member = people.member(role="developer")
    client = people.browser(member)
    form = {"name": "ci", "scopes": ["jobs:read", "jobs:write"], "days": "30"}
    answer = client.post(reverse("accounts:token-issue"), form)
    secret = re.search(r'id="secret">(berth_[^<]+)<', answer.content.decode())
    assert secret is not None
    assert "no-store" in answer["Cache-Control"]
    assert secret[1] not in client.get(reverse("accounts:tokens")).content.decode()
    bearer = {"HTTP_AUTHORIZATION": f"Bearer {secret[1]}"}
    assert APIClient().get("/api/v1/me", **bearer).json()["role"] == "developer"
    token = Token.objects.get()
    assert token.expires_at is not None
    client.post(reverse("accounts:token-revoke", args=[token.pk]))
    assert APIClient().get("/api/v1/me", **bearer).status_code == 401
    assert set(AuditEntry.objects.values_list("action", flat=True)) == {"token.issued", "token.revoked"}


def test_scopes_beyond_the_role_are_not_offered() -> None:
    client = people.browser(people.member(role="developer"))
    answer = client.post(reverse("accounts:token-issue"), {"name": "x", "scopes": ["billing:write"]})
    assert answer.status_code == 422
    assert not Token.objects.exists()


def test_a_member_sees_and_revokes_own_tokens_only_and_an_admin_all() -> None:
    home = people.organisation()
    one, two, admin = (people.member(home, role) for role in ("developer", "developer", "admin"))
    token, _secret = people.token(one)
    assert people.browser(two).post(reverse("accounts:token-revoke", args=[token.pk])).status_code == 404
    assert token.prefix not in people.browser(two).get(reverse("accounts:tokens")).content.decode()
    assert people.browser(admin).post(reverse("accounts:token-revoke", args=[token.pk])).status_code == 302


WRITES = [
    ("organisation", [], {"name": "x"}),
    ("project-create", [], {"slug": "x"}),
    ("invite", [], {"email": "x@berth.example", "role": "viewer"}),
    ("withdraw", ["ivt_x"], {}),
    ("member-role", ["mem_x"], {"role": "owner"}),
    ("member-remove", ["mem_x"], {}),
    ("token-issue", [], {"name": "x", "scopes": "jobs:read"}),
    ("token-revoke", ["tok_x"], {}),
]


@pytest.mark.parametrize("name, args, form", WRITES)
def test_a_viewer_writes_nothing(name: str, args: list[str], form: dict[str, str]) -> None:
    viewer = people.member(role="viewer")
    owner = people.member(viewer.organisation)
    if name == "member-remove":
        args = [owner.pk]
    answer = people.browser(viewer).post(reverse(f"accounts:{name}", args=args), form)
    assert answer.status_code == 403
    assert "Viewer" in answer.content.decode()
    assert not AuditEntry.objects.exists()
    assert Organisation.objects.count() == 1


@pytest.mark.parametrize(
    "name, args, form",
    [*WRITES, ("welcome", [], {"name": "x"}), ("notifications-read", [], {}), ("profile", [], {"name": "x"})],
)
def test_every_form_needs_its_csrf_token(name: str, args: list[str], form: dict[str, str]) -> None:
    client = people.browser(people.member(), enforce_csrf_checks=True)
    answer = client.post(reverse(f"accounts:{name}", args=args), form)
    assert answer.status_code == 403
    assert not AuditEntry.objects.exists()


def test_lists_cost_the_same_for_one_row_and_twenty() -> None:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    member = people.member()
    client = people.browser(member)
    counts: dict[str, list[int]] = {}
    for _round in range(2):
        for name in ("members", "projects", "tokens", "audit", "notifications"):
            client.get(reverse(f"accounts:{name}"))
            with CaptureQueriesContext(
                connection,
            ) as queries:
                client.get(reverse(f"accounts:{name}"))
            counts.setdefault(name, []).append(len(queries))
        for n in range(20):
            people.token(people.member(member.organisation))
            Project.objects.create(organisation=member.organisation, slug=f"p{_round}-{n}", name="x")
    assert {name: found[0] for name, found in counts.items()} == {n: f[1] for n, f in counts.items()}


def test_names_are_escaped() -> None:
    home = people.organisation("<script>alert(1)</script>")
    text = people.browser(people.member(home)).get(reverse("accounts:organisation")).content.decode()
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)" in text


def test_a_long_list_is_paged_by_cursor() -> None:
    member = people.member()
    client = people.browser(member)
    for n in range(60):
        Project.objects.create(organisation=member.organisation, slug=f"p{n}", name="x")
    first = client.get(reverse("accounts:projects")).content.decode()
    older = re.search(r'href="(\?cursor=[^"]+)"', first)
    assert older is not None
    second = client.get(reverse("accounts:projects") + older[1]).content.decode()
    assert ">default<" in second
    assert ">default<" not in first
