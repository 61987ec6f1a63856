"""Sign-in and the organisation's pages as pictures; a browser signs up and issues a token by hand."""

from collections.abc import Callable

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from accounts.models import Member
from accounts.services import notifications
from tests.screens.conftest import Walker
from tests.support import people

pytestmark = [pytest.mark.screens, pytest.mark.django_db(transaction=True)]
LOOKS = [("en", "light", False), ("zh-hans", "dark", False), ("zh-hans", "light", True)]


def filled() -> Member:
    """Return the owner of an organisation in which something happened."""
    home = people.organisation("海港实验室 Harbour Lab")
    owner = people.member(home, "owner", name="Owner")
    for role in ("admin", "developer", "billing", "viewer"):
        people.member(home, role)
    people.token(owner, ["jobs:read", "jobs:write"])
    for kind, severity in (("cluster.ready", "good"), ("cluster.ending", "attention"), ("job.failed", "bad")):
        notifications.notify(
            organisation=home,
            kind=kind,
            severity=severity,
            params={"name": "llama-7b-sft", "reason": "CUDA out of memory"},
            link="/notifications",
            once_key=kind,
            now=timezone.now(),
        )
    return owner


@pytest.mark.parametrize("language, theme, phone", LOOKS)
def test_pages_of_people(walker: Walker, language: str, theme: str, phone: bool) -> None:
    owner = filled()
    owner.user.language = language
    owner.user.theme = theme
    owner.user.save()
    look = f"{language}-{theme}-{'phone' if phone else 'wide'}"
    page = walker.open(owner.user, language=language, theme=theme, phone=phone)
    for path in (
        "organisation",
        "organisation/members",
        "organisation/projects",
        "organisation/audit",
        "tokens",
        "notifications",
        "profile",
        "account/2fa/",
        "account/email/",
        "account/password/change/",
    ):
        page.goto(f"{walker.address}/{path}")
        walker.shot(page, f"people-{path.strip('/').replace('/', '-')}-{look}")
    stranger = walker.open(language=language, theme=theme, phone=phone)
    for path in ("account/login/", "account/signup/", "account/password/reset/", "organisation/nowhere/x"):
        stranger.goto(f"{walker.address}/{path}")
        walker.shot(stranger, f"people-{path.strip('/').replace('/', '-')}-{look}")
    assert [fault for fault in walker.faults if "404" not in fault] == []


def test_a_browser_signs_up_and_issues_a_token(walker: Walker, settings: pytest.FixtureRequest) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "none"  # type: ignore[attr-defined]
    page = walker.open()
    page.goto(f"{walker.address}/account/signup/")
    fill: Callable[[str, str], None] = lambda name, value: page.fill(f"input[name={name}]", value)  # noqa: E731
    fill("email", "new@berth.example")
    fill("password1", people.PASSWORD)
    fill("password2", people.PASSWORD)
    fill("name", "New Person")
    fill("organisation", "新实验室")
    page.click("main form button[type=submit]")
    page.goto(f"{walker.address}/tokens")
    fill("name", "ci")
    page.locator("input[value='jobs:read']").check()
    page.get_by_role("button", name="Issue the token").click()
    expect(page.locator("#secret")).to_contain_text("berth_")
    walker.shot(page, "people-token-issued")
    page.get_by_role("button", name="Revoke").click()
    walker.shot(page, "people-token-revoke")
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(page.get_by_text("No token yet")).to_be_visible()
    assert walker.faults == []
