"""The catalogue and clusters over REST, as api.md of the documentation has them."""

from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import AuditEntry
from clusters.models import Cluster
from clusters.services import demo
from tests.support import fleet, people

pytestmark = pytest.mark.django_db
BASE = "/api/v1"


def hour() -> Any:
    return timezone.now().replace(minute=0, second=0, microsecond=0)


def z(time: Any) -> str:
    return time.isoformat().replace("+00:00", "Z")


def get(client: Any, path: str, **params: Any) -> Any:
    return client.get(f"{BASE}/{path}", params)


def test_sites_and_chips() -> None:
    demo.seed(now=fleet.NOW)
    fleet.pool(1)
    fleet.site(active=False, slug="closed")
    client = people.api(people.member(role="viewer"))
    sites = get(client, "sites").json()
    assert [set(s) for s in sites["items"]] == [{"id", "slug", "name", "backend", "country", "city", "zone"}]
    chips = get(client, "gpu-models", limit=3).json()
    assert [m["slug"] for m in chips["items"]] == ["t4", "a30", "l40"]
    assert chips["items"][0]["bf16_tflops"] is None
    assert chips["items"][1]["bf16_tflops"] == 165.0
    rest = get(client, "gpu-models", cursor=chips["next"]).json()
    assert rest["next"] is None
    assert "ascend-910b" in [m["slug"] for m in rest["items"] if not m["official"]]


def test_availability_of_now_later_and_never() -> None:
    at, of = fleet.pool(3)
    client = people.api(people.member(role="viewer"))
    now = hour() + timedelta(hours=2)
    ask = {"node_type": of.slug, "site": at.slug, "starts_at": z(now), "ends_at": z(now + fleet.DAY)}
    answer = get(client, "availability", **ask, nodes=3)
    assert answer.json() == {"available": True, "free_nodes": 3, "largest": 3, "next_start": z(now)}
    fleet.hold(at, of, number=2, start=now, now=now)
    after = now + fleet.DAY + settings.TURNAROUND
    by_id = {**ask, "node_type": of.pk, "site": at.pk}
    assert get(client, "availability", **by_id, nodes=2).json() == {
        "available": False,
        "free_nodes": 1,
        "largest": 1,
        "next_start": z(after),
    }
    assert get(client, "availability", **ask, nodes=4).json()["next_start"] is None
    # The start that was named really works.
    assert fleet.hold(at, of, number=3, start=after, now=now)


def test_a_start_in_the_past_counts_as_now() -> None:
    at, of = fleet.pool(1)
    client = people.api(people.member())
    old = {"starts_at": "2020-01-01T00:00:00Z", "ends_at": "2020-01-02T00:00:00Z"}
    answer = get(client, "availability", node_type=of.slug, site=at.slug, **old).json()
    assert answer["available"] is True
    assert answer["next_start"] > "2026"


@pytest.mark.parametrize(
    "change, field",
    [
        ({"nodes": 0}, "nodes"),
        ({"nodes": "x"}, "nodes"),
        ({"site": "nowhere"}, "site"),
        ({"node_type": "nothing"}, "node_type"),
        ({"starts_at": "tomorrow"}, "starts_at"),
        ({"starts_at": "2030-01-02T00:00:00Z", "ends_at": "2030-01-01T00:00:00Z"}, "ends_at"),
        ({"starts_at": "2030-01-02T00:00:00"}, "starts_at"),
    ],
)
def test_bad_questions_name_the_field(change: dict[str, Any], field: str) -> None:
    at, of = fleet.pool(1)
    client = people.api(people.member())
    answer = get(client, "availability", **{"node_type": of.slug, "site": at.slug, **change})
    assert answer.status_code == 422
    assert [e["field"] for e in answer.json()["errors"]] == [field]


def test_a_cluster_shows_what_the_contract_says() -> None:
    member = people.member(role="viewer")
    row = fleet.cluster(organisation=member.organisation, number=2)
    Cluster.objects.filter(pk=row.pk).update(gpus_used=3)
    shown = get(people.api(member), f"clusters/{row.pk}").json()
    assert shown == {
        "id": row.pk,
        "name": "training",
        "status": "ready",
        "site": row.site.slug,
        "node_type": row.node_type.slug,
        "nodes": 2,
        "gpus": 16,
        "starts_at": z(row.starts_at),
        "ends_at": z(row.ends_at),
        "ready_at": z(row.ready_at),
        "released_at": None,
        "hold_expires_at": None,
        "free_gpus": 13,
        "auto_renew": False,
        "message": "",
    }


def test_clusters_are_listed_newest_first_with_filters_and_cursor() -> None:
    member = people.member()
    rows = [fleet.cluster(organisation=member.organisation, status=s) for s in ("ready", "draining", "ready")]
    fleet.cluster()
    client = people.api(member)
    ids = [row.pk for row in reversed(rows)]
    assert [c["id"] for c in get(client, "clusters").json()["items"]] == ids
    first = get(client, "clusters", limit=2).json()
    assert [c["id"] for c in first["items"]] == ids[:2]
    fleet.cluster(organisation=member.organisation)
    assert [c["id"] for c in get(client, "clusters", cursor=first["next"]).json()["items"]] == ids[2:]
    assert [c["id"] for c in get(client, "clusters", status="draining").json()["items"]] == [rows[1].pk]
    by_site = get(client, "clusters", site=rows[0].site.slug).json()["items"]
    assert [c["id"] for c in by_site] == [rows[0].pk]
    assert get(client, "clusters", status="gone").status_code == 422


def test_the_list_takes_the_same_queries_for_one_and_for_twenty() -> None:
    member = people.member()
    client = people.api(member)
    counts = []
    for more in (1, 19):
        for _ in range(more):
            fleet.cluster(organisation=member.organisation)
        get(client, "clusters")  # the token's last use is written once in a while
        with CaptureQueriesContext(connection) as queries:
            assert get(client, "clusters").status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_changes_are_made_audited_and_on_the_timeline() -> None:
    member = people.member(role="admin")
    row = fleet.cluster(organisation=member.organisation)
    client = people.api(member)
    answer = client.patch(f"{BASE}/clusters/{row.pk}", {"name": "训练 🚀", "auto_renew": True})
    assert answer.status_code == 200, answer.json()
    assert (answer.json()["name"], answer.json()["auto_renew"]) == ("训练 🚀", True)
    entry = AuditEntry.objects.get(action="cluster.changed")
    assert entry.before == {"name": "training", "auto_renew": False}
    assert entry.after == {"name": "训练 🚀", "auto_renew": True}
    assert [e.kind for e in row.events.order_by("id")] == ["renamed", "auto_renew_on"]
    client.patch(f"{BASE}/clusters/{row.pk}", {"name": "训练 🚀"})
    assert AuditEntry.objects.filter(action="cluster.changed").count() == 1


@pytest.mark.parametrize(
    "body, code",
    [
        ({"name": ""}, "blank"),
        ({"name": "x" * 101}, "max_length"),
        ({"name": None}, "null"),
        ({"auto_renew": "maybe"}, "invalid"),
        ({"nodes": 7}, "unknown_field"),
    ],
)
def test_bad_changes_name_the_code(body: dict[str, Any], code: str) -> None:
    member = people.member()
    row = fleet.cluster(organisation=member.organisation)
    answer = people.api(member).patch(f"{BASE}/clusters/{row.pk}", body)
    assert answer.status_code == 422
    assert [e["code"] for e in answer.json()["errors"]] == [code]


def test_an_ended_cluster_cannot_renew() -> None:
    member = people.member()
    row = fleet.cluster(organisation=member.organisation, status="released")
    answer = people.api(member).patch(f"{BASE}/clusters/{row.pk}", {"auto_renew": True})
    assert (answer.status_code, answer.json()["code"]) == (409, "invalid_state")


@pytest.mark.parametrize(
    "role, status", [("owner", 200), ("developer", 403), ("billing", 403), ("viewer", 403)]
)
def test_who_may_change(role: str, status: int) -> None:
    member = people.member(role=role)
    row = fleet.cluster(organisation=member.organisation)
    assert people.api(member).patch(f"{BASE}/clusters/{row.pk}", {"name": "b"}).status_code == status


def test_a_stranger_finds_nothing() -> None:
    row = fleet.cluster()
    client = people.api(people.member())
    assert client.get(f"{BASE}/clusters/{row.pk}").status_code == 404
    assert client.patch(f"{BASE}/clusters/{row.pk}", {"name": "mine"}).status_code == 404
    assert get(client, "clusters").json()["items"] == []


def test_scopes_are_needed() -> None:
    client = people.api(people.member(), scopes=["jobs:read"])
    for path in ("sites", "gpu-models", "availability", "clusters", "clusters/clu_x"):
        assert get(client, path).status_code == 403
