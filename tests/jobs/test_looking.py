"""How often a collector looks for checkpoints: what looking costs decides, and the end is never missed."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from jobs.models import Checkpoint, Run
from jobs.services import checkpoints, collect
from tests.jobs.test_pruning import SAVE
from tests.support.training import World


@pytest.mark.parametrize(
    ("runs", "seconds", "wait"),
    [
        (1, 0.001, 2),
        (1, 0.2, 2),
        (1, 2.6, 26),
        (1, 100, 300),
        (200, 0.001, 2),
        (200, 0.01, 20),
        (200, 2.6, 300),
    ],
)
def test_the_dearer_the_rarer(runs: int, seconds: float, wait: float) -> None:
    now = timezone.now()
    memory = collect.Memory(begun={f"run_{number}" for number in range(runs)})
    memory.scanned("run_0", now=now, seconds=seconds)
    assert memory.next_scan["run_0"] == now + timedelta(seconds=wait)
    memory.keep_only({"run_1"})
    assert memory.next_scan == {}


def test_a_dear_folder_is_looked_at_rarely_and_once_more_at_the_end(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[str] = []
    real = checkpoints.scan

    def scan(run: Run, **told: Any) -> checkpoints.Scan:
        looks.append(run.status)
        return real(run, **told)

    monkeypatch.setattr(checkpoints, "scan", scan)
    monkeypatch.setattr(collect, "SCAN_SHARE", 10**9)  # as if each look took very long
    job = world.ended(world.submit(code=SAVE.format(count=2, code=0)))
    assert Checkpoint.objects.filter(job=job, complete=True).count() == 2
    # The collector once at the start; the watch and the collector when the run has ended.
    assert looks.count("succeeded") == 1
    assert len(looks) <= 3
