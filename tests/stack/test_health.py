"""Health answers name the failing part; request ids and logs go with every answer."""

import io
import json
import logging

import pytest
import redis
from django.db import OperationalError
from django.test import Client

from core import context, heartbeat
from portal import logs, readiness, tasks

PARTS = ("worker", "watcher", "embedded")


@pytest.fixture
def _alive(settings: object) -> None:
    settings.EMBEDDED_SITE = True  # type: ignore[attr-defined]
    for name in PARTS:
        heartbeat.beat(name)


def test_live_asks_nobody(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    assert client.get("/livez").json() == {"status": "live"}


@pytest.mark.django_db
@pytest.mark.usefixtures("_alive")
def test_ready_when_every_part_is_up(client: Client) -> None:
    answer = client.get("/readyz")
    assert answer.status_code == 200
    assert answer.json()["status"] == "ready"
    assert set(answer.json()["parts"].values()) == {"up"}


@pytest.mark.django_db
@pytest.mark.usefixtures("_alive")
@pytest.mark.parametrize("name", ["worker", "watcher", "embedded"])
def test_a_silent_process_is_named(client: Client, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = heartbeat.age
    monkeypatch.setattr(heartbeat, "age", lambda asked: 46.0 if asked == name else real(asked))
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert set(answer.json()["failing"]) == {name}
    assert "46 seconds" in answer.json()["failing"][name]


@pytest.mark.django_db
def test_a_process_that_never_spoke_is_named(client: Client) -> None:
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert "yet" in answer.json()["failing"]["worker"]


@pytest.mark.django_db
@pytest.mark.usefixtures("_alive")
def test_a_database_that_is_away_is_named(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def away() -> None:
        raise OperationalError("connection refused")

    monkeypatch.setattr(readiness.connection, "cursor", away)
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert {"database", "migrations"} == set(answer.json()["failing"])


@pytest.mark.django_db
@pytest.mark.usefixtures("_alive")
def test_a_redis_that_is_away_is_named(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*args: object) -> None:
        raise redis.ConnectionError("connection refused")

    monkeypatch.setattr(readiness.cache, "get", away)
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert "redis" in answer.json()["failing"]
    assert "database" not in answer.json()["failing"]


@pytest.mark.django_db
@pytest.mark.usefixtures("_alive")
def test_waiting_migrations_are_named(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "_migrated", False)
    monkeypatch.setattr(
        readiness.MigrationExecutor, "migration_plan", lambda self, leaves: [("jobs", "0099")]
    )
    answer = client.get("/readyz")
    assert "manage.py migrate" in answer.json()["failing"]["migrations"]


def test_the_heartbeat_task_speaks_for_beat_and_worker() -> None:
    assert heartbeat.age("worker") is None
    tasks.note_heartbeat()
    age = heartbeat.age("worker")
    assert age is not None
    assert age < 5


@pytest.mark.django_db
def test_metrics_need_their_key(client: Client, settings: object) -> None:
    settings.METRICS_KEY = ""  # type: ignore[attr-defined]
    assert client.get("/metrics").status_code == 404
    settings.METRICS_KEY = "right"  # type: ignore[attr-defined]
    assert client.get("/metrics").status_code == 401
    assert client.get("/metrics", headers={"Authorization": "Bearer wrong"}).status_code == 401
    shown = client.get("/metrics", headers={"Authorization": "Bearer right"})
    assert shown.status_code == 200
    assert b'berth_runs_open{status="queued"} 0.0' in shown.content


@pytest.mark.parametrize("given", ["abc-123", "A" * 64])
def test_a_request_id_is_taken(client: Client, given: str) -> None:
    assert client.get("/livez", headers={"X-Request-Id": given})["X-Request-Id"] == given


@pytest.mark.parametrize("given", ["", "a b", "A" * 65, "naïve", "a_b"])
def test_a_bad_request_id_is_replaced(client: Client, given: str) -> None:
    made = client.get("/livez", headers={"X-Request-Id": given})["X-Request-Id"]
    assert made != given
    assert context.REQUEST_ID_FORM.fullmatch(made)


def test_log_lines_are_json_with_the_request_id() -> None:
    stream = io.StringIO()
    configured = logs.configuration("INFO")["formatters"]["json"]
    formatter = configured.pop("()")
    handler = logging.StreamHandler(stream)
    handler.setFormatter(formatter(**configured))
    logger = logging.Logger("berth.test")
    logger.addHandler(handler)
    token = context.request_id.set("req-1")
    try:
        logger.warning("something %s", "happened", extra={"order": "ord_1"})
    finally:
        context.request_id.reset(token)
    line = json.loads(stream.getvalue())
    assert line["event"] == "something happened"
    assert (line["request_id"], line["order"], line["level"]) == ("req-1", "ord_1", "warning")
