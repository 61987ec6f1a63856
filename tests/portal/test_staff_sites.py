"""Staff add sites on pages, and nobody else finds them."""

from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from django.test import Client

from clusters.models import Site
from tests.support import people
from tests.support.mockapi import MockApi
from tests.support.mockapi.server import TOKEN

pytestmark = pytest.mark.django_db


@pytest.fixture
def api(settings: Any) -> Iterator[MockApi]:
    settings.DEMO = True
    made = MockApi()
    yield made
    made.close()


@pytest.fixture
def desk(settings: Any) -> Client:
    settings.STAFF_MFA = False
    client = Client()
    client.force_login(people.staff())
    return client


def form(api: MockApi, **fields: str) -> dict[str, str]:
    values = {"slug": "north", "name": "North", "zone": "Asia/Shanghai", "gpu_resource": "nvidia.com/gpu"}
    return {**values, "kubeconfig": yaml.safe_dump(api.kubeconfig), **fields}


def test_a_site_is_added_checked_and_shown_with_what_to_do(api: MockApi, desk: Client) -> None:
    answer = desk.post("/staff/sites/new", form(api), follow=True)
    page = answer.content.decode()
    assert answer.redirect_chain == [("/staff/sites/north", 302)]
    assert "Kubernetes v1.33.0-mock answers." in page
    assert "No node offers nvidia.com/gpu." in page
    assert "Install the device plugin" in page
    assert TOKEN not in page
    listed = desk.get("/staff/sites").content.decode()
    assert "North" in listed
    assert "2 problems" in listed


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("slug", "new", "Choose another short name."),
        ("slug", "a b", "slug"),
        ("zone", "Mars/Olympus", "There is no time zone Mars/Olympus."),
        ("gpu_resource", "gpus", "A resource is named like nvidia.com/gpu."),
        ("storage_class", "Fast!", "A storage class has"),
        ("kubeconfig", "", "It is empty."),
        ("kubeconfig", "a: [", "It is no plain YAML."),
    ],
)
def test_what_is_wrong_stands_at_its_field(
    api: MockApi, desk: Client, field: str, value: str, said: str
) -> None:
    answer = desk.post("/staff/sites/new", form(api, **{field: value}))
    assert (answer.status_code, Site.objects.count()) == (422, 0)
    assert said in answer.content.decode()


def test_a_dead_site_is_a_finding_and_new_access_mends_it(api: MockApi, desk: Client) -> None:
    desk.post("/staff/sites/new", form(api))
    config = api.kubeconfig
    config["users"][0]["user"]["token"] = "ended"
    desk.post("/staff/sites/north/access", {"kubeconfig": yaml.safe_dump(config)})
    assert "does not accept the credentials" in desk.get("/staff/sites/north").content.decode()
    bad = desk.post("/staff/sites/north/access", {"kubeconfig": "nothing"})
    assert bad.status_code == 422
    assert "It is no kubeconfig." in bad.content.decode()
    desk.post("/staff/sites/north/access", {"kubeconfig": yaml.safe_dump(api.kubeconfig)})
    desk.post("/staff/sites/north/check")
    assert "does not accept" not in desk.get("/staff/sites/north").content.decode()
    desk.post("/staff/sites/north/active", {"active": "1"})
    assert not Site.objects.get().active


def test_a_customer_finds_no_site(api: MockApi, desk: Client) -> None:
    desk.post("/staff/sites/new", form(api))
    customer = people.browser(people.member())
    for path in ("sites", "sites/new", "sites/north"):
        assert customer.get(f"/staff/{path}").status_code == 404
    for path in ("sites/new", "sites/north/check", "sites/north/access", "sites/north/active"):
        assert customer.post(f"/staff/{path}").status_code == 404
    assert Client().get("/staff/sites").status_code == 302
