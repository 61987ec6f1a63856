"""issue_token prints a token and nothing else; the demo people are made once."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import AuditEntry, Member, Organisation, Token, User
from accounts.services import demo
from tests.support import people

pytestmark = pytest.mark.django_db


def issue(*words: str) -> str:
    out = StringIO()
    call_command("issue_token", *words, stdout=out)
    return out.getvalue()


def test_the_printed_token_works_and_is_stored_hashed() -> None:
    member = people.member()
    printed = issue(member.user.email, "--scope", "jobs:read", "--scope", "jobs:write", "--days", "1")
    secret = printed.removesuffix("\n")
    assert secret.startswith("berth_")
    assert "\n" not in secret
    row = Token.objects.get()
    assert row.scopes == ["jobs:read", "jobs:write"]
    assert row.expires_at is not None
    assert secret not in str(vars(row))
    assert secret.startswith(row.prefix)
    assert APIClient().get("/api/v1/nothing", HTTP_AUTHORIZATION=f"Bearer {secret}").status_code == 404
    entry = AuditEntry.objects.get(action="token.issued")
    assert entry.actor_kind == "system"
    assert secret not in str(entry.after)


@pytest.mark.parametrize(
    "words, sentence",
    [
        (["nobody@berth.example", "--scope", "admin"], "not a member"),
        (["{email}"], "at least one --scope"),
        (["{email}", "--scope", "everything"], "at least one of the scopes"),
        (["{email}", "--scope", "admin", "--days", "0"], "--days"),
    ],
)
def test_a_refusal_says_what_to_do(words: list[str], sentence: str) -> None:
    member = people.member()
    with pytest.raises(CommandError, match=sentence):
        issue(*[word.format(email=member.user.email) for word in words])


def test_several_organisations_need_a_name() -> None:
    member = people.member()
    other = Member.objects.create(organisation=people.organisation(), user=member.user, role="viewer")
    with pytest.raises(CommandError, match="several organisations"):
        issue(member.user.email, "--scope", "admin")
    issue(member.user.email, "--scope", "admin", "--organisation", other.organisation_id)
    assert Token.objects.get().member == other


def test_the_demo_people_are_made_once_and_can_sign_in() -> None:
    passwords = dict.fromkeys(demo.PEOPLE, "first-long-password")
    demo.seed(passwords=passwords, now=timezone.now())
    demo.seed(passwords={**passwords, demo.STAFF: "another-long-password"}, now=timezone.now())
    assert Organisation.objects.count() == 2
    roles = {m.user.email: m.role for m in Member.objects.select_related("user")}
    assert roles == {demo.OWNER: "owner", demo.VIEWER: "viewer", demo.OTHER: "owner"}
    owner, viewer = (Member.objects.get(user__email=email) for email in (demo.OWNER, demo.VIEWER))
    assert owner.organisation == viewer.organisation
    staff = User.objects.get(email=demo.STAFF)
    assert staff.is_staff
    assert staff.check_password("another-long-password")
    assert set(staff.groups.values_list("name", flat=True)) == set(demo.STAFF_GROUPS)
