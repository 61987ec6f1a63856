"""Authentication, rights, problem documents and strictness of the API's base view."""

from typing import Any

import pytest
from django.test import override_settings
from django.urls import path
from django.utils import timezone
from rest_framework import serializers
from rest_framework.response import Response
from rest_framework.test import APIClient

from accounts.api.base import BerthAPIView
from accounts.models import Token
from core import errors
from core.rest import fields, pagination
from core.rest.serializers import MoneySerializer, StrictSerializer
from tests.support import people

pytestmark = pytest.mark.django_db


class InnerSerializer(StrictSerializer):
    count = serializers.IntegerField(max_value=10)


class BodySerializer(StrictSerializer):
    name = serializers.CharField(max_length=100)
    at = fields.ZTime(required=False)
    price = MoneySerializer(required=False)
    inner = InnerSerializer(many=True, required=False)


class Echo(BerthAPIView):
    rights = {"GET": "jobs:read", "POST": "jobs:write", "DELETE": None}

    def get(self, request: Any) -> Response:
        rows = pagination.paginate(Token.objects.for_org(self.organisation), request.query_params)
        return Response(rows.answer(lambda row: row.pk))

    def post(self, request: Any) -> Response:
        body = BodySerializer(data=request.data)
        body.is_valid(raise_exception=True)
        return Response(body.data, status=201)


class Broken(BerthAPIView):
    rights = {"GET": None, "POST": None}

    def get(self, request: Any) -> Response:
        raise ZeroDivisionError

    def post(self, request: Any) -> Response:
        raise errors.Conflict("Sold out.", code="sold_out", extra={"next_start": None})


class Named(BerthAPIView):
    rights = {"GET": None}

    def get(self, request: Any, name: str) -> Response:
        return Response({"name": name})


urlpatterns = [
    path("echo", Echo.as_view()),
    path("broken", Broken.as_view()),
    path("api/named/<str:name>", Named.as_view()),
]


@pytest.fixture(autouse=True)
def _urls() -> Any:
    with override_settings(ROOT_URLCONF=__name__):
        yield


def problem(answer: Any, status: int, code: str) -> dict[str, Any]:
    assert answer.status_code == status, answer.content
    assert answer["Content-Type"] == "application/problem+json"
    body: dict[str, Any] = answer.json()
    assert body["code"] == code
    assert body["status"] == status
    assert {"type", "title", "detail", "errors"} <= body.keys()
    return body


def test_nobody_is_told_how_to_sign_in() -> None:
    for header in ({}, {"HTTP_AUTHORIZATION": "Bearer berth_no_no"}, {"HTTP_AUTHORIZATION": "Basic x"}):
        answer = APIClient().get("/echo", **header)
        problem(answer, 401, "unauthenticated")
        assert answer["WWW-Authenticate"].startswith("Bearer")


def test_expired_revoked_and_inactive_tokens_are_refused() -> None:
    member = people.member()
    client = people.api(member)
    assert client.get("/echo").status_code == 200
    Token.objects.update(expires_at=timezone.now())
    assert client.get("/echo").status_code == 401
    Token.objects.update(expires_at=None, revoked_at=timezone.now())
    assert client.get("/echo").status_code == 401
    Token.objects.update(revoked_at=None)
    member.user.is_active = False
    member.user.save()
    assert client.get("/echo").status_code == 401


def test_role_and_scope_must_both_allow() -> None:
    owner, viewer = people.member(), people.member(role="viewer")
    problem(people.api(owner, ["jobs:read"]).post("/echo", {"name": "a"}), 403, "forbidden")
    problem(people.api(viewer).post("/echo", {"name": "a"}), 403, "forbidden")
    assert people.api(viewer).get("/echo").status_code == 200
    assert people.api(owner, ["jobs:write"]).get("/echo").status_code == 200
    problem(people.api(owner, ["billing:read"]).get("/echo"), 403, "forbidden")
    assert people.api(viewer, ["billing:read"]).delete("/echo").status_code == 405


def test_authentication_is_one_query(django_assert_num_queries: Any) -> None:
    client = people.api(people.member())
    client.get("/api/named/a")
    with django_assert_num_queries(1):
        client.get("/api/named/a")


def test_last_use_is_written_once_a_minute() -> None:
    client = people.api(people.member())
    client.get("/api/named/a")
    first = Token.objects.get().last_used_at
    assert first is not None
    client.get("/api/named/a")
    assert Token.objects.get().last_used_at == first


def test_unknown_fields_are_named_with_all_other_faults() -> None:
    client = people.api(people.member())
    body = {"nme": "a", "inner": [{"count": 1}, {"count": 11, "colour": 1}], "price": {"amount": 1, "vat": 2}}
    answer = client.post("/echo", body)
    faults = {(e["field"], e["code"]) for e in problem(answer, 422, "invalid")["errors"]}
    assert faults == {
        ("nme", "unknown_field"),
        ("name", "required"),
        ("inner.1.count", "max_value"),
        ("inner.1.colour", "unknown_field"),
        ("price.currency", "required"),
        ("price.vat", "unknown_field"),
    }


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[1,",
        b'{"name": NaN}',
        b'{"name": "\xff"}',
        b"[" * 100_000,
        b'{"n": ' + b"9" * 5000 + b"}",
        b"",
    ],
)
def test_malformed_json_is_400(body: bytes) -> None:
    client = people.api(people.member())
    answer = client.post("/echo", body, content_type="application/json")
    if body:
        problem(answer, 400, "malformed")
    else:
        problem(answer, 422, "invalid")


@pytest.mark.parametrize(
    "body", [rb'{"name": "a\u0000"}', rb'{"name": "\ud800"}', rb'{"\u0000": 1}', b"[]", b"1"]
)
def test_unstorable_text_and_wrong_shapes_are_422(body: bytes) -> None:
    answer = people.api(people.member()).post("/echo", body, content_type="application/json")
    problem(answer, 422, "invalid")


def test_a_large_body_and_a_foreign_type_are_refused() -> None:
    client = people.api(people.member())
    large = b'{"name": "' + b"a" * 10_000_000 + b'"}'
    problem(client.post("/echo", large, content_type="application/json"), 413, "too_large")
    problem(client.post("/echo", b"a=1", content_type="text/plain"), 415, "unsupported_media_type")
    problem(client.get("/echo", HTTP_ACCEPT="text/html"), 406, "not_acceptable")
    problem(client.put("/echo", {}), 405, "method_not_allowed")


def test_names_in_any_script_come_back_unchanged() -> None:
    client = people.api(people.member())
    for name in ("训练任务", "🚢 berth", "a.b\"c'd", "长" * 100):
        assert client.post("/echo", {"name": name}).json() == {"name": name}


def test_times_need_an_offset_and_come_back_in_utc() -> None:
    client = people.api(people.member())
    answer = client.post("/echo", {"name": "a", "at": "2026-01-31T09:00:00+08:00"})
    assert answer.json()["at"] == "2026-01-31T01:00:00Z"
    for bad in ("2026-01-31T09:00:00", "tomorrow", "2026-02-30T00:00:00Z", "0001-01-01T00:00:00+10:00", 5):
        body = problem(client.post("/echo", {"name": "a", "at": bad}), 422, "invalid")
        assert body["errors"][0]["field"] == "at"


def test_our_errors_keep_their_extra_members_and_faults_of_ours_are_500() -> None:
    client = people.api(people.member())
    assert problem(client.post("/broken", {}), 409, "sold_out")["next_start"] is None
    problem(client.get("/broken"), 500, "internal")


def test_nul_in_an_address_is_not_there() -> None:
    client = people.api(people.member())
    problem(client.get("/api/named/a%00"), 404, "not_found")
    problem(client.get("/echo?name=%00"), 422, "invalid")


def test_a_cursor_stays_right_while_rows_are_added() -> None:
    member = people.member()
    client = people.api(member)
    for _n in range(5):
        people.token(member)
    seen: list[str] = []
    cursor = ""
    while True:
        body = client.get(f"/echo?limit=2&cursor={cursor}").json()
        seen += body["items"]
        people.token(member)
        if body["next"] is None:
            break
        cursor = body["next"]
    assert seen == sorted(seen, reverse=True)
    assert len(seen) == 6
    for query in ("limit=0", "limit=201", "limit=x", "cursor=x", "cursor=%C3%A9", f"cursor={cursor}x"):
        problem(client.get(f"/echo?{query}"), 422, "invalid")
