"""Submitting, watching and resuming as pictures."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.screens.conftest import Walker
from tests.support.training import World

pytestmark = [pytest.mark.timeout(420), pytest.mark.screens, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def world(tmp_path: Path, settings: Any, transactional_db: None) -> Iterator[World]:
    settings.EMBEDDED_SITE, settings.EMBEDDED_DIR = True, tmp_path / "site"
    settings.STORAGE_URL = (tmp_path / "storage").as_uri()
    made = World(tmp_path / "site", nodes=4, gpus=8)
    yield made
    made.close()


def test_train(walker: Walker, world: World) -> None:
    looks = [
        ("zh-hans", "light", False),
        ("zh-hans", "dark", True),
        ("en", "dark", False),
        ("en", "light", True),
    ]
    done = world.submit(
        world.training("--steps", "120", "--checkpoint-every", "40", replicas=1, gpus_per_replica=4)
    )
    world.ended(done, seconds=90)
    running = world.submit(
        world.training(
            "--steps",
            "4000",
            "--checkpoint-every",
            "50",
            "--step-time",
            "0.3",
            replicas=2,
            gpus_per_replica=8,
        )
        | {"name": "llama-7b-sft"}
    )
    world.until(lambda: world.status(running) == "running" and (running.step or 0) > 20)
    waiting = world.submit(world.training(replicas=4, gpus_per_replica=8) | {"name": "预训练"})
    world.tick()
    for language, theme, phone in looks:
        page = walker.open(world.owner.user, language=language, theme=theme, phone=phone)
        suffix = f"{language}-{theme}-{'phone' if phone else 'wide'}"
        for name, path in {
            "home": "/",
            "clusters": "/clusters",
            "cluster": f"/clusters/{world.cluster.pk}",
            "submit": "/jobs/new",
            "jobs": "/jobs",
            "job-done": f"/jobs/{done.pk}",
            "job-running": f"/jobs/{running.pk}",
            "job-waiting": f"/jobs/{waiting.pk}",
        }.items():
            page.goto(f"{walker.address}{path}")
            world.tick()
            walker.shot(page, f"{name}-{suffix}")
        page.goto(f"{walker.address}/jobs/{running.pk}")
        page.locator("#job-head > .acts [popovertarget=cancel-dialog]").click()
        page.wait_for_selector("#cancel-dialog:popover-open")
        walker.shot(page, f"job-cancel-{suffix}", full=False)
    assert walker.faults == []
