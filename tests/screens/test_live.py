"""What moves by itself leaves the reader in peace; a session that ended leads to the sign-in."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.sessions.backends.cached_db import SessionStore

from tests.screens.conftest import Walker
from tests.support import wait
from tests.support.training import World

pytestmark = [pytest.mark.timeout(300), pytest.mark.screens, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def world(tmp_path: Path, settings: Any, transactional_db: None) -> Iterator[World]:
    settings.EMBEDDED_SITE, settings.EMBEDDED_DIR = True, tmp_path / "site"
    settings.STORAGE_URL = (tmp_path / "storage").as_uri()
    made = World(tmp_path / "site")
    yield made
    made.close()


def test_a_running_job_is_followed_without_moving_the_page(walker: Walker, world: World) -> None:
    job = world.submit(world.training("--steps", "4000", "--step-time", "0.1", replicas=1))
    world.until(lambda: world.status(job) == "running" and (job.step or 0) > 60, seconds=90)
    page = walker.open(world.owner.user)
    page.goto(f"{walker.address}/jobs/{job.pk}")
    page.locator("#loss-table summary").click()
    page.locator("#log").evaluate("e => { e.scrollTop = 0; }")
    lines = page.locator("#log .l").count()
    step = page.locator("#job-live").inner_text()

    def moved() -> bool:
        world.tick()
        return page.locator("#log .l").count() > lines and page.locator("#job-live").inner_text() != step

    wait.until(moved, 60)
    assert page.locator("#loss-table").get_attribute("open") is not None
    assert page.locator("#log").evaluate("e => e.scrollTop") == 0
    page.locator("#log").evaluate("e => { e.scrollTop = e.scrollHeight; }")
    lines = page.locator("#log .l").count()

    def grown() -> bool:
        world.tick()
        return page.locator("#log .l").count() > lines

    wait.until(grown, 60)
    assert page.locator("#log").evaluate("e => e.scrollHeight - e.scrollTop - e.clientHeight") < 24
    session = page.context.cookies()
    key = next(cookie["value"] for cookie in session if cookie["name"] == "sessionid")
    SessionStore(key).delete()
    page.wait_for_url("**/account/login/**", timeout=60_000)
    assert walker.faults == []
