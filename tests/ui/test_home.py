"""The first page, the search, and the pages of staff."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Organisation
from tests.support import fleet, market, people
from tests.support.training import World

pytestmark = pytest.mark.django_db
STAFF_PAGES = ("/staff/nodes", "/staff/orders", "/staff/customers", "/_ui/")


@pytest.fixture
def staff(settings: Any) -> Client:
    settings.STAFF_MFA = False
    client = Client()
    client.force_login(people.staff())
    return client


def test_a_new_organisation_is_shown_the_first_step() -> None:
    page = people.browser(people.member()).get("/").content.decode()
    assert "Three steps" in page
    assert "Choose GPUs" in page


def test_what_waits_for_money_comes_first() -> None:
    market.stocked()
    browser = people.browser(people.member())
    form = {"size": "8", "unit": "day", "count": "1", "key": "k", "type": ""}
    order = browser.post("/rent", form)["Location"]
    page = browser.get("/").content.decode()
    assert "waits for its payment" in page
    assert order in page
    browser.post(f"{order}/payments", {"method": "test", "outcome": "declined", "key": "p"})
    assert "was declined" in browser.get("/").content.decode()


def test_ends_and_failures_are_named(world: World) -> None:
    now = timezone.now()
    soon = fleet.cluster(
        organisation=world.organisation,
        name="soon over",
        start=now - timedelta(days=1),
        end=now + timedelta(hours=3),
    )
    job = world.submit(world.spec("raise SystemExit(3)") | {"name": "broken"})
    world.ended(job)
    page = people.browser(world.owner).get("/").content.decode()
    assert "broken failed" in page
    assert "ended with exit code 3" in page
    assert f"{soon.name} ends in 2 h" in page


def test_home_asks_the_database_as_often_for_many_as_for_one(
    world: World, django_assert_max_num_queries: Any
) -> None:
    browser = people.browser(world.owner)
    world.submit()
    with django_assert_max_num_queries(40) as first:
        browser.get("/")
    for _ in range(6):
        world.submit()
        fleet.cluster(
            organisation=world.organisation, start=timezone.now(), end=timezone.now() + timedelta(days=9)
        )
    with django_assert_max_num_queries(len(first)):
        browser.get("/")


def test_the_search_finds_by_name_and_goes_by_id(world: World) -> None:
    job = world.submit(name="拼写 test")
    browser = people.browser(world.owner)
    assert "拼写 test" in browser.get("/search", {"q": "拼写"}).content.decode()
    assert browser.get("/search", {"q": job.pk})["Location"] == f"/jobs/{job.pk}"
    assert "Nothing matches" in browser.get("/search", {"q": "%_'"}).content.decode()
    assert "Nothing matches" in people.browser(people.member()).get("/search", {"q": job.pk}).content.decode()


@pytest.mark.parametrize("path", STAFF_PAGES)
def test_staff_pages_are_not_there_for_customers(path: str) -> None:
    assert people.browser(people.member()).get(path).status_code == 404
    assert Client().get(path).status_code == 302


@pytest.mark.parametrize("path", STAFF_PAGES)
def test_staff_pages_of_an_empty_installation(staff: Client, path: str) -> None:
    assert staff.get(path).status_code == 200


def test_staff_see_nodes_orders_and_customers(staff: Client) -> None:
    market.stocked()
    member = people.member(Organisation.objects.create(name="Büro <1>"))
    people.browser(member).post("/rent", {"size": "8", "unit": "day", "count": "1", "key": "k", "type": ""})
    nodes = staff.get("/staff/nodes", {"days": "7", "type": "nonsense"}).content.decode()
    assert "slot hold" in nodes
    assert "Büro &lt;1&gt;" in nodes
    assert "Büro &lt;1&gt;" in staff.get("/staff/orders", {"status": "pending"}).content.decode()
    assert "Büro &lt;1&gt;" in staff.get("/staff/customers", {"name": "büro"}).content.decode()


def test_staff_begin_at_the_fleet(staff: Client) -> None:
    assert staff.get("/")["Location"] == "/staff/nodes"
