"""System checks: what is missing or must not stand together, in sentences that say what to do."""

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError

TAG = "berth"
LOCAL_NAMES = {"127.0.0.1", "localhost", "[::1]"}
ON_ONE_MACHINE = "On one machine `make run` makes it; start that first."


@register(TAG)
def required_settings(app_configs: Sequence[AppConfig] | None = None, **kwargs: Any) -> list[CheckMessage]:
    """Say which settings are missing."""
    found: list[CheckMessage] = []
    try:
        settings.SECRET_KEY  # noqa: B018
    except ImproperlyConfigured:
        hint = f"Set it to a long random text and keep it secret. {ON_ONE_MACHINE}"
        found.append(Error("SECRET_KEY is not set.", hint=hint, id="berth.E001"))
    if not settings.SEALING_KEYS:
        hint = (
            f"Set id:hex with 32 random bytes, such as k1:$(openssl rand -hex 32): it seals secrets at "
            f"rest. {ON_ONE_MACHINE}"
        )
        found.append(Error("SEALING_KEYS is not set.", hint=hint, id="berth.E002"))
    if not settings.PUBLIC_URL.startswith(("http://", "https://")):
        found.append(
            Error(
                f"PUBLIC_URL is {settings.PUBLIC_URL!r}, which is no address.",
                hint="Set the address that customers type, such as https://gpu.example.com.",
                id="berth.E003",
            )
        )
    if settings.STRIPE_SECRET_KEY and not (
        settings.STRIPE_PUBLISHABLE_KEY and settings.STRIPE_WEBHOOK_SECRET
    ):
        found.append(
            Error(
                "STRIPE_SECRET_KEY is set without STRIPE_PUBLISHABLE_KEY and STRIPE_WEBHOOK_SECRET.",
                hint="Set all three: the page needs the second, and unsigned events are refused.",
                id="berth.E004",
            )
        )
    if settings.ACCOUNT_EMAIL_VERIFICATION not in {"mandatory", "optional", "none"}:
        found.append(
            Error(
                f"EMAIL_VERIFICATION is {settings.ACCOUNT_EMAIL_VERIFICATION!r}.",
                hint="Use mandatory, optional or none.",
                id="berth.E005",
            )
        )
    return found


@register(TAG)
def pretended_money_for_real_machines(
    app_configs: Sequence[AppConfig] | None = None, **kwargs: Any
) -> list[CheckMessage]:
    """Refuse pretended money for real machines; silent while the database cannot say."""
    try:
        return gateway_and_sites()
    except (DatabaseError, ImproperlyConfigured):
        return []


def gateway_and_sites() -> list[CheckMessage]:
    """Return an error when the test gateway and an active Kubernetes site are both on."""
    from clusters.models import Site

    if not settings.TEST_GATEWAY:
        return []
    slugs = list(Site.objects.filter(backend="kubernetes", active=True).values_list("slug", flat=True)[:3])
    if not slugs:
        return []
    return [
        Error(
            f"The test gateway is on while Kubernetes sites are active: {', '.join(slugs)}.",
            hint="Anybody could take real machines without paying. Set TEST_GATEWAY=0.",
            id="berth.E010",
        )
    ]


@register(TAG, deploy=True)
def production_settings(app_configs: Sequence[AppConfig] | None = None, **kwargs: Any) -> list[CheckMessage]:
    """Refuse what belongs to a demo, and name what production lacks."""
    refused = [
        (settings.EMBEDDED_SITE, "E020", "EMBEDDED_SITE is on.", "Its jobs are processes of this machine."),
        (settings.TEST_GATEWAY, "E021", "TEST_GATEWAY is on.", "It takes orders without money."),
        (settings.DEMO, "E022", "DEMO is on.", "It makes demo people and demo prices."),
        (settings.DEBUG, "E023", "DEBUG is on.", "It shows settings to visitors."),
        (not settings.HTTPS, "E024", "PUBLIC_URL is not https.", "Set the address that customers type."),
        (not settings.STAFF_MFA, "E025", "STAFF_MFA is off.", "Staff sign in with a second factor."),
    ]
    lacking = [
        (
            not set(settings.ALLOWED_HOSTS) - LOCAL_NAMES,
            "W030",
            "ALLOWED_HOSTS names this machine only.",
            "Add the host of PUBLIC_URL.",
        ),
        (not settings.METRICS_KEY, "W031", "METRICS_KEY is not set.", "/metrics answers 404 without it."),
        (
            not settings.STRIPE_SECRET_KEY,
            "W032",
            "No payment gateway is set.",
            "Set the STRIPE_… keys, or customers can pay by transfer only.",
        ),
        (
            settings.EMAIL_BACKEND.endswith(("filebased.EmailBackend", "console.EmailBackend")),
            "W033",
            "Mail is not sent.",
            "Set EMAIL_BACKEND to a backend that sends.",
        ),
        (
            settings.ACCOUNT_EMAIL_VERIFICATION != "mandatory",
            "W034",
            "Mail addresses are not verified.",
            "Set EMAIL_VERIFICATION=mandatory.",
        ),
    ]
    return [Error(msg, hint=hint, id=f"berth.{number}") for wrong, number, msg, hint in refused if wrong] + [
        Warning(msg, hint=hint, id=f"berth.{number}") for wrong, number, msg, hint in lacking if wrong
    ]
