"""System checks explain what is missing and refuse what must not stand together; production is clean."""

import os
import subprocess
import sys

import pytest
from django.conf import settings as django_settings
from django.core import checks as django_checks

from clusters.models import Site
from portal import checks, startup
from tests.support import tree

PRODUCTION = {
    "PATH": os.environ["PATH"],
    "BERTH_DATA": "/nonexistent",
    "SECRET_KEY": "k" * 25 + "0123456789abcdefghijklmnopqrstuv",
    "SEALING_KEYS": "k1:" + "ab" * 32,
    "METRICS_KEY": "metrics",
    "PUBLIC_URL": "https://gpu.example.com",
    "ALLOWED_HOSTS": "gpu.example.com",
    "STRIPE_SECRET_KEY": "sk_live_x",
    "STRIPE_PUBLISHABLE_KEY": "pk_live_x",
    "STRIPE_WEBHOOK_SECRET": "whsec_x",
    "EMAIL_HOST": "mail.example.com",
    "DEFAULT_FROM_EMAIL": "portal@gpu.example.com",
    "STORAGE_URL": "s3://berth/production",
}


def _manage(*words: str, **changes: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in (PRODUCTION | changes).items() if value}
    return subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=tree.ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def _ids(found: list[django_checks.CheckMessage]) -> set[str]:
    return {str(message.id).removeprefix("berth.") for message in found}


def test_production_settings_are_clean() -> None:
    checked = _manage("check", "--deploy", "--fail-level", "WARNING")
    assert checked.returncode == 0, checked.stderr
    assert "no issues" in checked.stdout


def test_a_missing_secret_key_is_one_sentence() -> None:
    checked = _manage("check", SECRET_KEY="")
    assert checked.returncode != 0
    assert "SECRET_KEY" in checked.stderr
    assert "make run" in checked.stderr
    assert "Traceback" not in checked.stderr


def test_a_bad_sealing_key_is_one_sentence() -> None:
    checked = _manage("check", SEALING_KEYS="k1:abc")
    assert checked.returncode != 0
    assert "SEALING_KEYS" in checked.stderr
    assert "Traceback" not in checked.stderr


def test_the_demo_is_refused_by_deploy() -> None:
    checked = _manage(
        "check", "--deploy", EMBEDDED_SITE="1", TEST_GATEWAY="1", DEMO="1", STAFF_MFA="0", DEBUG="1"
    )
    assert checked.returncode != 0
    for number in ("E020", "E021", "E022", "E023", "E025"):
        assert f"berth.{number}" in checked.stderr


@pytest.mark.parametrize(
    ("name", "value", "number"),
    [
        ("SEALING_KEYS", {}, "E002"),
        ("PUBLIC_URL", "gpu.example.com", "E003"),
        ("STRIPE_SECRET_KEY", "sk_live_x", "E004"),
        ("ACCOUNT_EMAIL_VERIFICATION", "maybe", "E005"),
    ],
)
def test_what_is_missing_is_named(settings: object, name: str, value: object, number: str) -> None:
    setattr(settings, name, value)
    assert number in _ids(checks.required_settings())


def test_every_message_says_what_to_do(settings: object) -> None:
    found = checks.production_settings()
    assert found
    assert all(message.hint for message in found)


@pytest.mark.parametrize(
    ("backend", "active", "gateway", "refused"),
    [
        ("kubernetes", True, True, True),
        ("kubernetes", True, False, False),
        ("kubernetes", False, True, False),
        ("embedded", True, True, False),
    ],
)
@pytest.mark.django_db
def test_the_test_gateway_and_a_kubernetes_site_exclude_each_other(
    settings: object, backend: str, active: bool, gateway: bool, refused: bool
) -> None:
    Site.objects.create(slug="here", name="Here", backend=backend, active=active)
    settings.TEST_GATEWAY = gateway  # type: ignore[attr-defined]
    assert (_ids(checks.pretended_money_for_real_machines()) == {"E010"}) is refused


@pytest.mark.django_db
def test_a_process_refuses_to_start_with_both(settings: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(startup.connections, "close_all", lambda: None)  # the test's transaction lives on it
    settings.TEST_GATEWAY = True  # type: ignore[attr-defined]
    startup.verify()
    Site.objects.create(slug="real", name="Real", backend="kubernetes")
    with pytest.raises(SystemExit, match=r"berth\.E010.*real"):
        startup.verify()


def test_the_tests_run_with_debug_off() -> None:
    assert django_settings.DEBUG is False


def test_web_refuses_to_show_an_embedded_site_to_others() -> None:
    served = subprocess.run(
        [sys.executable, "-m", "gunicorn", "--config", "portal/gunicorn.py", "portal.wsgi"],
        cwd=tree.ROOT,
        env=PRODUCTION
        | {"EMBEDDED_SITE": "1", "WEB_BIND": "0.0.0.0:0", "DATABASE_URL": "postgresql://x@127.0.0.1:1/x"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert served.returncode != 0
    assert "serves 127.0.0.1 only" in served.stderr
