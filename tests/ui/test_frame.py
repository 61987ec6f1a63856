"""The frame around pages: style guide, errors, forms, language and theme."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles import finders
from django.test import Client, RequestFactory
from django.urls import URLPattern, URLResolver, get_resolver

from core import errors as core_errors
from portal.views import errors
from tests.support import people

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
OPEN_DOORS = ("api/", "stripe/webhook")  # tokens and signatures guard these, not cookies


@pytest.fixture
def staff(settings: Any) -> Client:
    settings.STAFF_MFA = False
    client = Client()
    client.force_login(people.staff())
    return client


def test_the_style_guide_shows_every_state(staff: Client) -> None:
    page = staff.get("/_ui/").content.decode()
    for word in ("running", "ready", "fulfilled", "burn_in", "requires_action"):
        assert f'data-state="{word}"' in page


def test_the_choice_of_theme_and_language_stands_on_the_page(staff: Client) -> None:
    staff.post("/theme", {"theme": "dark", "next": "/_ui/"})
    staff.post("/language", {"language": "zh-hans", "next": "/_ui/"})
    page = staff.get("/_ui/").content.decode()
    assert '<html lang="zh-hans" data-theme="dark">' in page
    assert 'value="dark" aria-pressed="true"' in page


def test_the_page_says_demo_and_embedded(client: Client, settings: Any) -> None:
    settings.DEMO = settings.EMBEDDED_SITE = True
    page = client.get("/catalogue").content.decode()
    assert "prices and stock are invented" in page
    assert "nothing is a sandbox" in page


def test_scripts_are_ours_and_carry_the_nonce(staff: Client) -> None:
    answer = staff.get("/_ui/")
    page = answer.content.decode()
    nonce = re.search(r"'nonce-([^']+)'", answer["Content-Security-Policy"])
    assert nonce is not None
    scripts = re.findall(r"<script[^>]*>", page)
    assert scripts
    assert all(f'nonce="{nonce[1]}"' in tag and 'src="' in tag for tag in scripts)
    assert not re.search(r'\s(style|on[a-z]+)="', page)


def test_every_style_and_script_of_the_frame_exists() -> None:
    for template in TEMPLATES:
        for name in re.findall(r"{% static '([^']+)' %}", template.read_text()):
            assert finders.find(name), (template.name, name)


@pytest.mark.parametrize(
    "view,status,said",
    [
        (errors.bad_request, 400, "cannot be read"),
        (errors.forbidden, 403, "may not do this"),
        (errors.not_found, 404, "nothing here"),
        (errors.failed, 500, "on our side"),
        (errors.csrf_failed, 403, "form has expired"),
    ],
)
def test_error_pages_say_what_happened(view: Any, status: int, said: str, rf: RequestFactory) -> None:
    answer = view(rf.get("/x"))
    assert answer.status_code == status
    assert said in answer.content.decode()


def test_an_error_carries_the_id_of_its_request(client: Client) -> None:
    page = client.get("/nowhere", headers={"X-Request-Id": "abc-123"})
    assert page.status_code == 404
    assert "abc-123" in page.content.decode()


def test_a_fault_of_ours_is_a_page_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any, **kwargs: Any) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr("portal.views.search._found", broken)
    client = people.browser(people.member(), raise_request_exception=False)
    answer = client.get("/search", {"q": "x"})
    assert answer.status_code == 500
    assert "Something went wrong on our side" in answer.content.decode()


def test_what_is_away_answers_503(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*args: Any, **kwargs: Any) -> None:
        raise core_errors.Unavailable("The site does not answer.")

    monkeypatch.setattr("portal.views.search._found", away)
    answer = people.browser(people.member()).get("/search", {"q": "x"})
    assert answer.status_code == 503
    assert "The site does not answer." in answer.content.decode()


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_form_that_writes_carries_its_token(template: Path) -> None:
    text = template.read_text()
    for form in re.findall(r"<form\b.*?</form>", text, re.DOTALL):
        if re.search(r'method="post"', form, re.IGNORECASE):
            assert "{% csrf_token %}" in form, form[:120]
        else:
            assert "csrf_token" not in form, "a token in a query would leak"


def test_no_page_is_exempt_from_the_token() -> None:
    exempt = [path for path, view in _views() if getattr(view, "csrf_exempt", False)]
    assert all(path.startswith(OPEN_DOORS) for path in exempt), exempt


@pytest.mark.parametrize(
    "path", ["/rent", "/orders/ord_1/payments", "/jobs/new", "/jobs/job_1/cancel", "/theme"]
)
def test_a_form_from_elsewhere_is_refused(path: str) -> None:
    browser = people.browser(people.member(), enforce_csrf_checks=True)
    answer = browser.post(path, {})
    assert answer.status_code == 403
    assert "This form has expired" in answer.content.decode()


def _views(patterns: Any = None, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        path = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _views(pattern.url_patterns, path)
        elif isinstance(pattern, URLPattern):
            yield path, pattern.callback
