"""Celery is ours wherever Django stands, and the beat calls only tasks that exist."""

import celery
import pytest
from django.conf import settings

from core import context
from portal.celery import app


def test_tasks_belong_to_our_application() -> None:
    assert celery.current_app.main == "berth"


@pytest.mark.django_db  # Celery's own fixup runs the system checks
def test_every_task_of_the_beat_exists() -> None:
    app.loader.import_default_modules()
    wanted = {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}
    assert wanted - set(app.tasks) == set()


def test_no_task_keeps_a_result() -> None:
    assert settings.CELERY_TASK_IGNORE_RESULT is True
    assert app.conf.result_backend is None


def test_what_the_beat_sends_does_not_pile_up() -> None:
    for name, entry in settings.CELERY_BEAT_SCHEDULE.items():
        assert entry["options"]["expires"] <= 60, name


def test_log_lines_of_a_task_carry_its_id() -> None:
    token = context.request_id.set("")
    try:
        celery.signals.task_prerun.send(sender=None, task_id="0a1b-2c", task=None, args=(), kwargs={})
        assert context.request_id.get() == "0a1b-2c"
    finally:
        context.request_id.reset(token)
