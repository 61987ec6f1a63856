"""What every page gets: its place in the navigation, whose data it shows, choices of language and theme."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise, SimpleLazyObject
from django.utils.translation import get_language, gettext_lazy

from accounts import reads

UNREAD_SHOWN = 99
THEMES = {
    "": (gettext_lazy("As the system"), "system"),
    "light": (gettext_lazy("Light"), "sun"),
    "dark": (gettext_lazy("Dark"), "moon"),
}
# in full, and where there is little room
LANGUAGE_LABELS = {"en": ("English", "EN"), "zh-hans": ("中文", "中")}


@dataclass(frozen=True, slots=True)
class Item:
    """A link of the navigation."""

    url: str
    icon: str
    label: str | Promise
    current: bool


@dataclass(frozen=True, slots=True)
class Group:
    """Links under a common title; the first group has none."""

    title: str | Promise
    items: list[Item]


# name of the page, icon, label, further names of pages that belong to it
Entries = list[tuple[str, str, str | Promise]]
CUSTOMER: list[tuple[str | Promise, Entries]] = [
    ("", [
        ("home", "home", gettext_lazy("Home")),
        ("billing:rent", "rent", gettext_lazy("Rent")),
        ("clusters", "grid", gettext_lazy("Clusters")),
        ("jobs:list", "jobs", gettext_lazy("Jobs")),
    ]),
    (gettext_lazy("Billing"), [
        ("billing:orders", "orders", gettext_lazy("Orders")),
        ("billing:invoices", "billing", gettext_lazy("Invoices")),
    ]),
    (gettext_lazy("Settings"), [
        ("accounts:organisation", "people", gettext_lazy("Organisation")),
        ("accounts:tokens", "settings", gettext_lazy("Tokens")),
    ]),
]  # fmt: skip
STAFF: list[tuple[str | Promise, Entries]] = [
    (gettext_lazy("Fleet"), [
        ("staff-nodes", "nodes", gettext_lazy("Nodes")),
        ("staff-sites", "grid", gettext_lazy("Sites")),
        ("staff-orders", "orders", gettext_lazy("Orders")),
        ("staff-customers", "people", gettext_lazy("Customers")),
        ("style-guide", "anchor", gettext_lazy("Style guide")),
    ]),
]  # fmt: skip
ACCOUNT: Entries = [
    ("accounts:profile", "people", gettext_lazy("Your account")),
    ("account_email", "people", gettext_lazy("Sign-in addresses")),
    ("account_change_password", "settings", gettext_lazy("Password")),
    ("mfa_index", "check", gettext_lazy("Two-step sign-in")),
]


def page(request: HttpRequest) -> dict[str, Any]:
    """Return what base.html and its parts use."""
    access = getattr(request, "access", None)
    user = getattr(request, "user", None)
    signed_in = bool(user and user.is_authenticated)
    theme = getattr(request, "theme", "")
    return {
        "csp_nonce": getattr(request, "csp_nonce", ""),
        "frame_template": "base.html" if signed_in else "base_plain.html",
        "theme": theme,
        "themes": [
            {"value": value, "label": label, "icon": icon, "pressed": "true" if value == theme else "false"}
            for value, (label, icon) in THEMES.items()
        ],
        "other_languages": _other_languages(),
        "rail": SimpleLazyObject(lambda: _rail(request, access, user)),
        "account_items": SimpleLazyObject(lambda: _items(request.path, ACCOUNT)),
        "organisation": access.organisation if access else None,
        "role_label": access.member.get_role_display() if access else "",
        "memberships": getattr(request, "memberships", []),
        "unread": SimpleLazyObject(lambda: _unread(access)),
        "notifications_url": reverse("accounts:notifications") if access else "",
        "organisation_url": reverse("accounts:organisation") if access else "",
        "switch_url": reverse("accounts:switch") if access else "",
        "search_url": reverse("search") if access else "",
        "search_text": request.GET.get("q", "")[:100] if request.path == reverse("search") else "",
        "zone_name": timezone.get_current_timezone_name() if access else "",
        "demo": settings.DEMO,
        "embedded": settings.EMBEDDED_SITE,
    }


def _items(path: str, entries: Entries) -> list[Item]:
    found = []
    for name, icon, label in entries:
        url = reverse(name)
        current = path == url or (url != "/" and path.startswith(f"{url.rstrip('/')}/"))
        found.append(Item(url, icon, label, current))
    return found


def _rail(request: HttpRequest, access: Any, user: Any) -> list[Group]:
    groups = CUSTOMER if access else []
    if user is not None and user.is_authenticated and user.is_staff:
        groups = [*groups, *STAFF]
    shown = [Group(title, _items(request.path, entries)) for title, entries in groups]
    return [group for group in shown if group.items]


def _other_languages() -> list[dict[str, str]]:
    present = get_language()
    return [
        {"code": code, "label": LANGUAGE_LABELS[code][0], "short": LANGUAGE_LABELS[code][1]}
        for code, _ in settings.LANGUAGES
        if code != present
    ]


def _unread(access: Any) -> int:
    """Return how many notifications are new to this person, counted up to a bound."""
    return reads.unread(access.organisation, access.user, UNREAD_SHOWN) if access else 0
