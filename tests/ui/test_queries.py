"""Pages ask the database as often for many rows as for one."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Member
from billing.models import Order
from tests.support import fleet, market, people
from tests.support.training import World

pytestmark = pytest.mark.django_db


def asked(browser: Client, path: str) -> int:
    """Return how many queries a page makes."""
    with CaptureQueriesContext(
        connection,
    ) as seen:
        assert browser.get(path).status_code == 200
    return len(seen)


def grows(browser: Client, path: str, add: Callable[[int], None]) -> tuple[int, int]:
    """Return the queries for few rows and for many."""
    add(1)
    browser.get(path)  # what is cached, is cached for both
    few = asked(browser, path)
    add(4)
    return few, asked(browser, path)


@pytest.mark.parametrize("path", ["/jobs", "/clusters/{cluster}", "/search?q=job", "/jobs/new", "/"])
def test_jobs(world: World, path: str) -> None:
    def add(count: int) -> None:
        for number in range(count):
            world.submit(name=f"job {number}")

    few, many = grows(people.browser(world.owner), path.format(cluster=world.cluster.pk), add)
    assert many == few


def test_clusters() -> None:
    member = people.member()

    def add(count: int) -> None:
        for _ in range(count):
            now = timezone.now()
            fleet.cluster(organisation=member.organisation, start=now, end=now + timedelta(days=3))
            fleet.cluster(organisation=member.organisation, status="released")

    few, many = grows(people.browser(member), "/clusters", add)
    assert many == few


@pytest.mark.parametrize("path", ["/orders", "/invoices", "/"])
def test_orders(path: str) -> None:
    market.stocked(12)
    member = people.member()

    def add(count: int) -> None:
        for _ in range(count):
            buy(member)

    few, many = grows(people.browser(member), path, add)
    assert many == few


def test_the_catalogue(client: Client) -> None:
    few, many = grows(client, "/catalogue", lambda count: [market.stocked() for _ in range(count)] and None)
    assert many == few


@pytest.mark.parametrize("path", ["/staff/nodes", "/staff/orders", "/staff/customers"])
def test_staff(path: str, settings: object) -> None:
    settings.STAFF_MFA = False  # type: ignore[attr-defined]
    site, kind = market.stocked(12)
    client = Client()
    client.force_login(people.staff())

    def add(count: int) -> None:
        for _ in range(count):
            buy(people.member())
        fleet.nodes(site, kind, count)

    few, many = grows(client, path, add)
    assert many == few


def buy(member: Member) -> None:
    """Rent a node for a day and pay it."""
    browser = people.browser(member)
    form = {"size": "8", "unit": "day", "count": "1", "key": str(Order.objects.count()), "type": ""}
    order = browser.post("/rent", form)["Location"]
    browser.post(f"{order}/payments", {"method": "test", "outcome": "succeeded", "key": order[-20:]})
