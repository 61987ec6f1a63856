"""Hints leave in order, each once, by a thread of the process that asked."""

import os
import threading
from typing import Any

import pytest
from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError

from core import dispatch


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    monkeypatch.setattr(current_app, "send_task", lambda task, args, **options: found.append((task, args)))
    return found


def test_hints_leave_in_order(sent: list[Any]) -> None:
    outbox = dispatch.Outbox()
    for number in range(5):
        outbox.put(("jobs.step", (number,)))
    assert outbox.flush(10)
    assert sent == [("jobs.step", (number,)) for number in range(5)]


def test_a_hint_that_waits_is_not_sent_twice_and_one_that_left_is(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go, found = threading.Event(), threading.Event(), []

    def slow(task: str, args: Any, **options: Any) -> None:
        begun.set()
        assert go.wait(10)
        found.append(args)

    monkeypatch.setattr(current_app, "send_task", slow)
    outbox = dispatch.Outbox()
    outbox.put(("jobs.admit", ("a",)))
    assert begun.wait(10)  # on its way: what is committed now may be too late for it
    for name in ("a", "b", "a", "b"):
        outbox.put(("jobs.admit", (name,)))
    assert not outbox.flush(0)
    go.set()
    assert outbox.flush(10)
    assert found == [("a",), ("a",), ("b",)]


@pytest.mark.parametrize("error", [OperationalError("refused"), OSError("reset"), ValueError("odd")])
def test_what_cannot_be_sent_is_logged_and_the_next_one_is_sent(
    error: Exception, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    found = []

    def away(task: str, args: Any, **options: Any) -> None:
        if args == ("a",):
            raise error
        found.append(args)

    monkeypatch.setattr(current_app, "send_task", away)
    outbox = dispatch.Outbox()
    outbox.put(("jobs.admit", ("a",)))
    outbox.put(("jobs.admit", ("b",)))
    assert outbox.flush(10)
    assert (found, caplog.text.count("hint not sent")) == ([("b",)], 1)


def test_a_broker_that_stays_away_fills_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    go, found = threading.Event(), []
    monkeypatch.setattr(dispatch, "LONGEST", 3)
    monkeypatch.setattr(
        current_app, "send_task", lambda task, args, **options: (go.wait(10), found.append(args))
    )
    outbox = dispatch.Outbox()
    for number in range(50):
        outbox.put(("jobs.step", (number,)))
    go.set()
    assert outbox.flush(10)
    assert 3 <= len(found) <= 6  # three that waited, and three at most that were on their way


@pytest.mark.django_db(transaction=True)
def test_a_hint_of_a_transaction_that_fails_never_leaves(sent: list[Any]) -> None:
    with transaction.atomic():
        dispatch.after_commit("jobs.admit", "never")
        transaction.set_rollback(True)
    with transaction.atomic():
        dispatch.after_commit("jobs.admit", "kept")
        assert sent == []
    assert dispatch.flush(10)
    assert sent == [("jobs.admit", ("kept",))]


def test_a_child_sends_its_own_hints_only(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    monkeypatch.setattr(dispatch, "_outbox", dispatch.Outbox())
    dispatch._outbox._waiting["jobs.admit", ("parent",)] = None
    child = os.fork()
    if child == 0:
        try:
            dispatch._send = lambda task, args: os.write(writing, args[0].encode())  # type: ignore[assignment]
            dispatch._outbox.put(("jobs.admit", ("child",)))
            dispatch.flush(10)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as end:
        said = end.read()
    assert (os.waitpid(child, 0)[1], said) == (0, b"child")
