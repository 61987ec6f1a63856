"""Idempotency keys: each rule, a crash in the middle, and rivals."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import override_settings
from django.urls import path
from django.utils import timezone
from rest_framework import serializers
from rest_framework.response import Response

from accounts.api.base import BerthAPIView
from accounts.models import IdempotencyKey, Project
from accounts.services import idempotency
from core import errors
from core.rest.serializers import StrictSerializer
from tests.support import people

pytestmark = pytest.mark.django_db


class BodySerializer(StrictSerializer):
    slug = serializers.SlugField()
    then = serializers.CharField(required=False)


class Killed(BaseException):
    """Stands for a process that dies."""


class Make(BerthAPIView):
    """Makes a project whose name carries the claim, as real rows do in a field of their own."""

    rights = {"POST": "jobs:write"}
    show_once = frozenset({"secret"})
    broken = True

    def post(self, request: Any) -> Response:
        body = BodySerializer(data=request.data)
        body.is_valid(raise_exception=True)
        key = request.idempotency_key or body.validated_data["slug"]
        row, _made = Project.objects.get_or_create(
            organisation=self.organisation, name=key, defaults={"slug": body.validated_data["slug"]}
        )
        then = body.validated_data.get("then")
        if then == "fail" and self.broken:
            raise ZeroDivisionError
        if then == "die":
            raise Killed
        if then == "conflict":
            raise errors.Conflict("Not now.")
        return Response({"id": row.pk, "secret": "once"}, status=201)


urlpatterns = [path("make", Make.as_view()), path("other", Make.as_view())]


@pytest.fixture(autouse=True)
def _urls() -> Any:
    with override_settings(ROOT_URLCONF=__name__):
        yield


def made() -> int:
    return Project.objects.exclude(slug="default").count()


def test_the_same_request_gets_the_first_answer_without_its_secret() -> None:
    client = people.api(people.member())
    first = client.post("/make", {"slug": "a"}, HTTP_IDEMPOTENCY_KEY="k")
    again = client.post("/make", {"slug": "a"}, HTTP_IDEMPOTENCY_KEY="k")
    assert first.status_code == again.status_code == 201
    assert first.json() == {**again.json(), "secret": "once"}
    assert again["Idempotent-Replayed"] == "true"
    assert "Idempotent-Replayed" not in first
    assert made() == 1


def test_answers_are_sealed() -> None:
    client = people.api(people.member())
    answer = client.post("/make", {"slug": "a"}, HTTP_IDEMPOTENCY_KEY="k")
    assert answer.json()["id"] not in IdempotencyKey.objects.get().answer


@pytest.mark.parametrize(
    "address, body", [("/make", {"slug": "b"}), ("/other", {"slug": "a"}), ("/make?x=1", {"slug": "a"})]
)
def test_another_request_under_the_key_is_refused(address: str, body: dict[str, str]) -> None:
    client = people.api(people.member())
    client.post("/make", {"slug": "a"}, HTTP_IDEMPOTENCY_KEY="k")
    answer = client.post(address, body, HTTP_IDEMPOTENCY_KEY="k")
    assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_key_reused")


def test_keys_belong_to_an_organisation() -> None:
    for _n in range(2):
        client = people.api(people.member())
        assert client.post("/make", {"slug": "a"}, HTTP_IDEMPOTENCY_KEY="k").status_code == 201
    assert made() == 2


def test_rights_come_before_the_key() -> None:
    home = people.organisation()
    people.api(people.member(home)).post("/make", {"slug": "a"}, HTTP_IDEMPOTENCY_KEY="k")
    viewer = people.api(people.member(home, "viewer"))
    assert viewer.post("/make", {"slug": "a"}, HTTP_IDEMPOTENCY_KEY="k").status_code == 403


@pytest.mark.parametrize("body", [{"slug": "a b"}, {"slug": "a", "then": "conflict"}])
def test_a_refusal_is_not_stored_and_may_be_corrected(body: dict[str, str]) -> None:
    client = people.api(people.member())
    refused = client.post("/make", body, HTTP_IDEMPOTENCY_KEY="k").status_code
    assert refused in {409, 422}
    assert client.post("/make", body, HTTP_IDEMPOTENCY_KEY="k").status_code == refused
    assert client.post("/make", {"slug": "a"}, HTTP_IDEMPOTENCY_KEY="k").status_code == 201


def test_after_a_failure_of_ours_the_repeat_continues_the_row(monkeypatch: Any) -> None:
    client = people.api(people.member())
    body = {"slug": "a", "then": "fail"}
    assert client.post("/make", body, HTTP_IDEMPOTENCY_KEY="k").status_code == 500
    other = client.post("/make", {"slug": "a"}, HTTP_IDEMPOTENCY_KEY="k")
    assert other.json()["code"] == "idempotency_key_reused"
    monkeypatch.setattr(Make, "broken", False)
    assert client.post("/make", body, HTTP_IDEMPOTENCY_KEY="k").status_code == 201
    assert made() == 1


def test_a_crash_holds_the_key_until_its_deadline_then_the_repeat_continues(monkeypatch: Any) -> None:
    client = people.api(people.member())
    monkeypatch.setattr(idempotency, "release", lambda *a, **k: None)  # a dead process frees nothing
    monkeypatch.setattr(idempotency, "store", lambda *a, **k: None)
    first = client.post("/make", {"slug": "a"}, HTTP_IDEMPOTENCY_KEY="k")
    monkeypatch.undo()
    answer = client.post("/make", {"slug": "a"}, HTTP_IDEMPOTENCY_KEY="k")
    assert (answer.status_code, answer.json()["code"]) == (409, "idempotency_in_progress")
    IdempotencyKey.objects.update(claim_until=timezone.now())
    again = client.post("/make", {"slug": "a"}, HTTP_IDEMPOTENCY_KEY="k")
    assert again.json() == first.json()
    assert made() == 1


def test_a_process_told_to_end_frees_the_key() -> None:
    client = people.api(people.member())
    with pytest.raises(Killed):
        client.post("/make", {"slug": "a", "then": "die"}, HTTP_IDEMPOTENCY_KEY="k")
    assert IdempotencyKey.objects.get().claim_token == ""


def test_keys_are_kept_for_a_day() -> None:
    client = people.api(people.member())
    client.post("/make", {"slug": "a"}, HTTP_IDEMPOTENCY_KEY="k")
    assert idempotency.clean_up(now=timezone.now()) == 0
    IdempotencyKey.objects.update(created_at=timezone.now() - timedelta(hours=24))
    assert client.post("/make", {"slug": "b"}, HTTP_IDEMPOTENCY_KEY="k").status_code == 201
    assert made() == 2
    assert idempotency.clean_up(now=timezone.now() + timedelta(hours=25)) == 1


@pytest.mark.parametrize("key", ["", "x" * 256, "tab\there"])
def test_a_key_has_1_to_255_printable_characters(key: str) -> None:
    client = people.api(people.member())
    answer = client.post("/make", {"slug": "a"}, HTTP_IDEMPOTENCY_KEY=key)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "Idempotency-Key")


@pytest.mark.django_db(transaction=True)
def test_of_rivals_with_one_key_one_makes_the_row() -> None:
    client_of = people.member()
    clients = [people.api(client_of) for _n in range(8)]
    answers: list[Any] = []
    barrier = threading.Barrier(len(clients))

    def post(client: Any) -> None:
        barrier.wait()
        answers.append(client.post("/make", {"slug": "a"}, HTTP_IDEMPOTENCY_KEY="k"))
        connection.close()

    threads = [threading.Thread(target=post, args=(client,)) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made() == 1
    fresh = [a for a in answers if a.status_code == 201 and "Idempotent-Replayed" not in a]
    assert len(fresh) == 1
    assert {a.status_code for a in answers} <= {201, 409}
