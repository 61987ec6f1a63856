"""Forms that are sent twice act once: which carry a key, what a repeat gets, and what acts again."""

import re
import threading
from pathlib import Path
from typing import Any

import pytest
from django.core import mail
from django.db import connection
from django.http import HttpResponse, HttpResponseRedirect
from django.test import RequestFactory
from django.utils import timezone

from accounts.models import Invitation, Organisation, Token
from accounts.views import once
from jobs.services import control
from tests.support import people
from tests.support.training import World, access

pytestmark = pytest.mark.django_db
TEMPLATES = Path(__file__).parents[2] / "templates"
# Sending these again sets what is set already, or asks again on purpose.
WITHOUT = {
    "billing/pay.html": "asks the gateway where the payment stands",
    "accounts/invitation.html": "joins, once by its nature",
    "accounts/profile.html": "a person's own data, and which organisation is shown",
    "portal/staff/site_new.html": "a second site of the same short name is refused",
    "portal/staff/site.html": "the newest credentials, check and choice count",
    "parts/preferences.html": "language and theme",
    "parts/organisation_switch.html": "which organisation is shown",
    "parts/account_menu.html": "signs out",
}
FORM = re.compile(r"<form\b[^>]*?method=\"post\".*?</form>", re.DOTALL)


def test_every_form_that_writes_carries_a_key() -> None:
    lacking, seen = set(), 0
    for path in TEMPLATES.rglob("*.html"):
        for form in FORM.findall(path.read_text()):
            seen += 1
            # The key of the rent page comes with the quote that is shown in it.
            if "{% form_key %}" not in form and "billing/parts/quote.html" not in form:
                lacking.add(path.relative_to(TEMPLATES).as_posix())
    assert seen > 20
    assert lacking == set(WITHOUT)
    assert "{% form_key %}" in (TEMPLATES / "billing/parts/quote.html").read_text()


def key_in(page: str) -> str:
    found = re.search(r'name="key" value="([0-9a-f]{32})"', page)
    assert found is not None
    return found[1]


def test_a_resume_sent_twice_is_one_run(world: World) -> None:
    job = world.ended(world.submit())
    browser = people.browser(world.owner)
    form = {"key": key_in(browser.get(f"/jobs/{job.pk}").content.decode())}
    for _ in range(2):
        assert browser.post(f"/jobs/{job.pk}/resume", form)["Location"] == f"/jobs/{job.pk}"
    assert job.runs.count() == 2
    world.ended(job)
    browser.post(f"/jobs/{job.pk}/resume", form)  # the page was left open all the while
    assert job.runs.count() == 2
    browser.post(f"/jobs/{job.pk}/resume", form | {"key": "another"})
    assert job.runs.count() == 3


def test_what_was_refused_acts_again(world: World) -> None:
    job = world.submit()
    control.cancel(access=world.access, job_id=job.pk, now=timezone.now())
    browser = people.browser(world.owner)
    for _ in range(2):
        page = browser.post(f"/jobs/{job.pk}/cancel", {"key": "k"}, follow=True).content.decode()
        assert "This job has ended already" in page


def test_an_invitation_sent_twice_is_one_and_another_address_is_another() -> None:
    browser = people.browser(people.member())
    key = key_in(browser.get("/organisation/members").content.decode())
    sent = len(mail.outbox)
    for address in ("a@berth.example", "a@berth.example", "b@berth.example"):
        form = {"key": key, "email": address, "role": "viewer"}
        assert browser.post("/organisation/members/invite", form).status_code == 302
    assert sorted(Invitation.objects.values_list("email", flat=True)) == [
        "a@berth.example",
        "b@berth.example",
    ]
    assert len(mail.outbox) <= sent + 2


def test_a_token_form_sent_twice_issues_one_and_shows_its_secret_once() -> None:
    browser = people.browser(people.member())
    key = key_in(browser.get("/tokens").content.decode())
    form = {"key": key, "name": "ci", "scopes": ["jobs:read"], "days": "30"}
    first, second = (browser.post("/tokens/new", form) for _ in range(2))
    assert (first.status_code, second.status_code) == (200, 302)
    assert second["Location"] == "/tokens"
    assert Token.objects.count() == 1
    # A refused form is shown again with a key of its own.
    assert browser.post("/tokens/new", form | {"name": ""}).status_code == 422


def test_an_organisation_made_twice_is_one() -> None:
    browser = people.browser(people.member())
    before = Organisation.objects.count()
    form = {"name": "Lab", "zone": "Asia/Shanghai", "currency": "CNY"}
    form["key"] = key_in(browser.get("/organisation/new").content.decode())
    for _ in range(2):
        assert browser.post("/organisation/new", form).status_code == 302
    assert Organisation.objects.count() == before + 1
    browser.post("/organisation/new", form | {"name": "Other lab"})
    assert Organisation.objects.count() == before + 2


@pytest.mark.django_db(transaction=True)
def test_the_second_click_waits_for_the_first() -> None:
    member = people.member()
    begun, go = threading.Event(), threading.Event()
    answers: list[Any] = []
    ran: list[str] = []

    def view() -> HttpResponse:
        ran.append("ran")
        begun.set()
        assert go.wait(10)
        return HttpResponseRedirect("/there")

    def click() -> None:
        request: Any = RequestFactory().post("/act", {"key": "k"})
        request.user, request.access = member.user, access(member)
        try:
            answers.append(once.once(request, view)["Location"])
        finally:
            connection.close()

    threads = [threading.Thread(target=click) for _ in range(2)]
    threads[0].start()
    assert begun.wait(10)
    threads[1].start()
    go.set()
    for thread in threads:
        thread.join(20)
    assert (answers, ran) == (["/there", "/there"], ["ran"])
