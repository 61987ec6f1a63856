"""The two pictures of the README; copy them from the shots to docs/images when the pages change."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.screens.conftest import Walker
from tests.support import market, people
from tests.support.training import World

pytestmark = [pytest.mark.timeout(300), pytest.mark.screens, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def world(tmp_path: Path, settings: Any, transactional_db: None) -> Iterator[World]:
    settings.EMBEDDED_SITE, settings.EMBEDDED_DIR = True, tmp_path / "site"
    settings.STORAGE_URL = (tmp_path / "storage").as_uri()
    made = World(tmp_path / "site", nodes=2, gpus=8)
    yield made
    made.close()


def test_rent(walker: Walker) -> None:
    market.demo()
    home = people.organisation("Demo Lab")
    page = walker.open(people.member(home).user)
    page.goto(f"{walker.address}/rent?size=32&type=h100-8x")
    walker.shot(page, "readme-rent", full=False)


def test_job(walker: Walker, world: World) -> None:
    type(world.organisation).objects.filter(pk=world.organisation.pk).update(name="Demo Lab")
    job = world.submit(
        world.training(
            "--steps", "300", "--checkpoint-every", "50", "--step-time", "0.02", gpus_per_replica=8
        )
    )
    world.until(lambda: world.status(job) == "running" and (job.step or 0) > 150, seconds=120)
    page = walker.open(world.owner.user)
    page.goto(f"{walker.address}/jobs/{job.pk}")
    walker.shot(page, "readme-job", full=False)
