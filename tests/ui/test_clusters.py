"""Pages of clusters: list, page, its live part, renaming."""

import pytest
from django.test import Client

from tests.support import fleet, people
from tests.support.training import World

pytestmark = pytest.mark.django_db


def test_an_empty_list_offers_the_first_step() -> None:
    page = people.browser(people.member()).get("/clusters").content.decode()
    assert "No cluster is running" in page
    assert 'href="/rent"' in page


def test_the_page_of_a_ready_cluster(world: World) -> None:
    browser = people.browser(world.owner)
    assert world.cluster.name in browser.get("/clusters").content.decode()
    page = browser.get(f"/clusters/{world.cluster.pk}").content.decode()
    assert "4 of 4 GPUs free" in page
    assert "2 nodes with 4 GPUs: 4 free" in page


def test_the_live_part_reloads_only_when_the_state_changed(world: World) -> None:
    browser = people.browser(world.owner)
    url = f"/clusters/{world.cluster.pk}/live"
    assert browser.get(url, {"seen": "ready"}).content.decode().lstrip().startswith('<div id="cluster-live"')
    assert browser.get(url, {"seen": "provisioning"})["HX-Refresh"] == "true"


@pytest.mark.parametrize(
    "status",
    ["held", "scheduled", "provisioning", "draining", "releasing", "released", "failed", "cancelled"],
)
def test_every_state_has_a_page(status: str) -> None:
    member = people.member()
    cluster = fleet.cluster(status=status, organisation=member.organisation)
    assert people.browser(member).get(f"/clusters/{cluster.pk}").status_code == 200


def test_renaming_shows_what_was_wrong(world: World) -> None:
    browser = people.browser(world.owner)
    url = f"/clusters/{world.cluster.pk}/change"
    browser.post(url, {"name": "北京 <b>"})
    page = browser.get(f"/clusters/{world.cluster.pk}").content.decode()
    assert "北京 &lt;b&gt;" in page
    assert "1 to 100 characters" in browser.post(url, {"name": " "}, follow=True).content.decode()


def test_a_stranger_sees_nothing(world: World) -> None:
    browser = people.browser(people.member())
    for path in ("", "/live"):
        assert browser.get(f"/clusters/{world.cluster.pk}{path}").status_code == 404
    assert browser.post(f"/clusters/{world.cluster.pk}/change", {"name": "x"}).status_code == 404


def test_a_viewer_changes_nothing(world: World) -> None:
    viewer: Client = people.browser(people.member(world.organisation, role="viewer"))
    assert viewer.post(f"/clusters/{world.cluster.pk}/change", {"name": "x"}).status_code == 403
