"""The beat finds what hints have lost; a broker that is away stops nothing."""

from typing import Any

import pytest
from django.utils import timezone
from kombu.exceptions import OperationalError

from clusters import tasks
from clusters.models import Cluster
from clusters.services import bookings
from tests.support import fleet
from tests.support.embedded_site import EmbeddedSite

pytestmark = pytest.mark.django_db


def test_the_beat_brings_a_cluster_to_life_without_any_hint(
    world: EmbeddedSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = fleet.pool(1)
    world.register()
    now = timezone.now()
    cluster = fleet.hold(*pool, start=now, now=now)
    bookings.confirm(cluster=cluster, now=now)
    monkeypatch.setattr(tasks.step, "apply_async", lambda args, **options: tasks.step(*args))
    tasks.step_due()
    assert Cluster.objects.get().status == "ready"


def test_a_broker_that_is_away_is_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def away(*args: Any, **options: Any) -> None:
        raise OperationalError("connection refused")

    monkeypatch.setattr(tasks.step, "apply_async", away)
    now = timezone.now()
    bookings.confirm(cluster=fleet.hold(*fleet.pool(1), start=now, now=now), now=now)
    tasks.step_due()
    assert "hint not sent" in caplog.text
