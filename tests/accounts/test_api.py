"""The API of people: me, tokens, projects, audit, notifications."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import AuditEntry, Project, Token
from accounts.services import notifications, projects, tokens
from tests.support import people

pytestmark = pytest.mark.django_db


def test_me_shows_what_role_and_scopes_both_allow() -> None:
    member = people.member(role="developer")
    body = people.api(member, ["jobs:write", "billing:write", "admin"]).get("/api/v1/me").json()
    assert body["organisation"]["id"] == member.organisation_id
    assert body["user"]["email"] == member.user.email
    assert body["role"] == "developer"
    assert body["rights"] == ["billing:read", "jobs:read", "jobs:write", "tokens"]


def test_a_token_is_issued_shown_once_used_and_revoked() -> None:
    member = people.member()
    client = people.api(member)
    order = {"name": "ci", "scopes": ["jobs:read"], "expires_at": "2199-01-01T00:00:00Z"}
    made = client.post("/api/v1/tokens", order, HTTP_IDEMPOTENCY_KEY="k").json()
    again = client.post("/api/v1/tokens", order, HTTP_IDEMPOTENCY_KEY="k").json()
    assert again == {k: v for k, v in made.items() if k != "secret"}
    assert made["secret"].startswith(made["prefix"] + "_")
    listed = client.get("/api/v1/tokens").json()["items"]
    assert listed[0] == again
    assert "secret" not in str(listed)
    bearer = {"HTTP_AUTHORIZATION": f"Bearer {made['secret']}"}
    assert APIClient().get("/api/v1/projects", **bearer).status_code == 200
    assert client.delete(f"/api/v1/tokens/{made['id']}").status_code == 204
    assert APIClient().get("/api/v1/projects", **bearer).status_code == 401
    assert client.delete(f"/api/v1/tokens/{made['id']}").status_code == 404


def test_a_repeat_after_a_crash_shows_a_secret_that_works() -> None:
    member = people.member()
    order = {
        "member": member,
        "name": "ci",
        "scopes": ["admin"],
        "expires_at": None,
        "actor": people.actor(member),
        "now": timezone.now(),
        "idempotency_key": "idk_1",
    }
    first, lost = tokens.issue(**order)
    second, secret = tokens.issue(**order)
    assert first.pk == second.pk
    assert tokens.authenticate(lost, timezone.now()) is None
    assert tokens.authenticate(secret, timezone.now()) == second


def test_a_token_loses_what_its_member_loses() -> None:
    member = people.member(role="admin")
    client = people.api(member)
    assert client.get("/api/v1/audit").status_code == 200
    member.role = "viewer"
    member.save()
    assert client.get("/api/v1/audit").status_code == 403


@pytest.mark.parametrize(
    "change, field",
    [
        ({"name": ""}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"scopes": []}, "scopes"),
        ({"scopes": ["all"]}, "scopes.0"),
        ({"expires_at": "2001-01-01T00:00:00Z"}, "expires_at"),
        ({"expires_at": "2199-01-01T00:00:00"}, "expires_at"),
    ],
)
def test_a_wrong_token_order_names_its_field(change: dict[str, Any], field: str) -> None:
    body = {"name": "ci", "scopes": ["admin"], **change}
    answer = people.api(people.member()).post("/api/v1/tokens", body)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"].startswith(field.split(".")[0])


def test_projects_are_made_once_per_slug() -> None:
    member = people.member(role="developer")
    client = people.api(member)
    made = client.post("/api/v1/projects", {"slug": "research", "name": "研究 🚢"})
    assert made.status_code == 201
    assert made.json()["name"] == "研究 🚢"
    again = client.post("/api/v1/projects", {"slug": "research"})
    assert (again.status_code, again.json()["code"]) == (409, "exists")
    for bad in ("", "a b", "-a", "a" * 41, "Ä"):
        assert client.post("/api/v1/projects", {"slug": bad}).status_code == 422
    slugs = [item["slug"] for item in client.get("/api/v1/projects").json()["items"]]
    assert slugs == ["research", "default"]


def test_a_project_of_a_crashed_request_is_continued() -> None:
    member = people.member()
    order = {
        "organisation": member.organisation,
        "slug": "a",
        "name": "A",
        "actor": people.actor(member),
        "now": timezone.now(),
        "idempotency_key": "idk_7",
    }
    assert projects.create(**order) == projects.create(**order)
    assert Project.objects.filter(slug="a").count() == 1


def test_the_audit_names_actor_request_and_values() -> None:
    member = people.member()
    client = people.api(member)
    client.post("/api/v1/projects", {"slug": "research"})
    item = client.get("/api/v1/audit?action=project.created").json()["items"][0]
    assert item["after"] == {"slug": "research", "name": "research"}
    assert item["actor"]["kind"] == "token"
    assert item["actor"]["user"] == member.user_id
    assert item["ip"] == "127.0.0.1"
    assert item["time"].endswith("Z")
    token = Token.objects.get()
    assert client.get(f"/api/v1/audit?actor={token.pk}").json()["items"] == [item]
    assert client.get("/api/v1/audit?actor=nobody").json()["items"] == []


def test_the_audit_is_cut_by_time() -> None:
    client = people.api(people.member())
    now = timezone.now()
    AuditEntry.objects.update(at=now - timedelta(days=2))
    day_ago = (now - timedelta(days=1)).isoformat().replace("+00:00", "Z")
    assert client.get(f"/api/v1/audit?from={day_ago}").json()["items"] == []
    assert len(client.get(f"/api/v1/audit?to={day_ago}").json()["items"]) == 1
    for bad in ("from=x", "to=2026-01-01", "from="):
        assert client.get(f"/api/v1/audit?{bad}").status_code == 422


def test_notifications_speak_the_language_of_the_request() -> None:
    member, stranger = people.member(), people.member()
    told = {
        "organisation": member.organisation,
        "kind": "cluster.ready",
        "severity": "good",
        "params": {"name": "研究"},
        "link": "/clusters/x",
        "now": timezone.now(),
    }
    notifications.notify(**told, once_key="1")
    notifications.notify(**told, once_key="1")
    notifications.notify(**told, once_key="2", user=people.member(member.organisation).user)
    items = people.api(member).get("/api/v1/notifications").json()["items"]
    assert [item["title"] for item in items] == ["Cluster 研究 is ready"]
    assert people.api(stranger).get("/api/v1/notifications").json()["items"] == []


def test_strangers_see_nothing_and_change_nothing() -> None:
    member, stranger = people.member(), people.member()
    token, _secret = people.token(member)
    client = people.api(stranger)
    assert client.delete(f"/api/v1/tokens/{token.pk}").status_code == 404
    assert token.pk not in str(client.get("/api/v1/tokens").json())
    assert member.organisation_id not in str(client.get("/api/v1/audit").json())
    token.refresh_from_db()
    assert token.revoked_at is None


@pytest.mark.parametrize("role", ["developer", "billing", "viewer"])
def test_tokens_and_audit_are_for_admins(role: str) -> None:
    client = people.api(people.member(role=role))
    assert client.get("/api/v1/tokens").status_code == 403
    assert client.post("/api/v1/tokens", {"name": "x", "scopes": ["admin"]}).status_code == 403
    assert client.get("/api/v1/audit").status_code == 403


def test_lists_cost_the_same_for_one_row_and_twenty(django_assert_num_queries: Any) -> None:
    member = people.member()
    client = people.api(member)
    client.get("/api/v1/me")
    for _round in range(2):
        for address in ("tokens", "projects", "audit", "notifications"):
            with django_assert_num_queries(2):
                client.get(f"/api/v1/{address}")
        for n in range(20):
            people.token(member)
            Project.objects.create(organisation=member.organisation, slug=f"p{_round}-{n}", name="x")


def test_addresses_that_are_nothing_answer_as_the_rest_does() -> None:
    answer = APIClient().post("/api/v1/nothing/at/all", {})
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
