"""The other pages as pictures: catalogue, first page, invoice, staff, errors; and the two of the README."""

import pytest
from django.test import Client
from django.utils import timezone

from clusters.models import Site
from tests.screens.conftest import Walker
from tests.support import fleet, market, people

pytestmark = [pytest.mark.timeout(300), pytest.mark.screens, pytest.mark.django_db(transaction=True)]
OUTLINED = """(() => {
  const e = document.activeElement;
  const near = [e, e.closest("label, tr"), e.nextElementSibling].filter(Boolean);
  const drawn = near.map(x => getComputedStyle(x));
  return drawn.some(x => x.outlineStyle !== "none" && parseFloat(x.outlineWidth) > 0);
})()"""
LOOKS = [("en", "light", False), ("zh-hans", "dark", False), ("zh-hans", "light", True)]


def test_pages_of_customers_and_staff(walker: Walker) -> None:
    market.demo()
    member = people.member()
    order = pay(people.browser(member))
    invoice = people.browser(member).get(order).context["invoice"]
    people.browser(people.member()).post(
        "/rent", {"type": "a100-8x", "size": "32", "unit": "day", "count": "3"}
    )
    staff = people.staff()
    north = checked_site()
    for language, theme, phone in LOOKS:
        suffix = f"{language}-{theme}-{'phone' if phone else 'wide'}"
        for name, path, user in [
            ("catalogue", "/catalogue", None),
            ("first-page", "/", people.member().user),
            ("first-clusters", "/clusters", people.member().user),
            ("first-jobs", "/jobs", people.member().user),
            ("order-paid", order, member.user),
            ("invoices", "/invoices", member.user),
            ("invoice", f"/invoices/{invoice.pk}", member.user),
            ("search", f"/search?q={invoice.number}", member.user),
            ("staff-nodes", "/staff/nodes?type=a100-8x", staff),
            ("staff-sites", "/staff/sites", staff),
            ("staff-site", f"/staff/sites/{north.slug}", staff),
            ("staff-site-new", "/staff/sites/new", staff),
            ("staff-orders", "/staff/orders", staff),
            ("staff-customers", "/staff/customers", staff),
        ]:
            page = walker.open(user, language=language, theme=theme, phone=phone)
            page.goto(f"{walker.address}{path}")
            walker.shot(page, f"{name}-{suffix}")
            page.context.close()
    assert walker.faults == []


def test_a_page_that_is_not_there(walker: Walker) -> None:
    page = walker.open(language="zh-hans", theme="dark")
    page.goto(f"{walker.address}/nowhere")
    walker.shot(page, "not-found")


def checked_site() -> Site:
    """Return a Kubernetes site with findings of each kind."""
    findings = [
        {"code": "version", "severity": "ok", "values": {"version": "Kubernetes v1.33.2"}},
        {"code": "no_operator", "severity": "problem", "values": {}},
        {"code": "missing_rights", "severity": "problem", "values": {"rights": "patch nodes, get pods/log"}},
        {"code": "odd_version", "severity": "warning", "values": {"version": "v1.x"}},
    ]
    return fleet.site(
        slug="north-1",
        name="North 一号机房",
        backend="kubernetes",
        server="https://kubernetes.north-1.example.com:6443",
        active=False,
        findings=findings,
        checked_at=timezone.now(),
    )


def test_the_invoice_prints_without_the_frame(walker: Walker) -> None:
    market.demo()
    member = people.member()
    order = pay(people.browser(member))
    page = walker.open(member.user, theme="dark")
    page.goto(walker.address + order)
    page.get_by_role("link", name="Invoice", exact=True).click()
    page.locator(".document").wait_for()
    page.emulate_media(media="print")
    assert not page.locator(".rail").is_visible()
    assert not page.locator(".topbar").is_visible()
    assert page.locator(".document").is_visible()
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    walker.shot(page, "invoice-print")


def test_the_keyboard_reaches_the_content_and_shows_where_it_is(walker: Walker) -> None:
    market.demo()
    page = walker.open(people.member().user)
    page.goto(f"{walker.address}/rent")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    seen = set()
    for _ in range(24):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement === document.body"):
            break  # past the last stop of the page
        outline = page.evaluate(OUTLINED)
        seen.add(outline)
    assert seen == {True}


def test_the_sheet_opens_on_a_phone(walker: Walker) -> None:
    page = walker.open(people.member().user, phone=True)
    page.goto(f"{walker.address}/clusters")
    assert not page.locator(".rail").is_visible()
    page.locator("#sheet summary").click()
    assert page.locator(".rail nav").is_visible()
    walker.shot(page, "sheet-phone", full=False)
    page.locator(".rail nav a", has_text="Jobs").click()
    page.wait_for_url("**/jobs")


def pay(browser: Client) -> str:
    """Rent sixteen GPUs for a month, pay, and return the address of the order."""
    form = {"type": "h100-8x", "size": "16", "unit": "month", "count": "1", "name": "预训练"}
    order: str = browser.post("/rent", form)["Location"]
    browser.post(f"{order}/payments", {"method": "test", "outcome": "succeeded"})
    return order
