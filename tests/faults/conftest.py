"""What the tests of faults share: a portal for all kills, and a world to train in."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import whole
from tests.support.training import World


@pytest.fixture(scope="module")
def portal() -> Iterator[whole.Portal]:
    """One portal, started once: each flow rents a cluster of its own."""
    with whole.in_own_folder("faults") as portal:
        portal.start()
        portal.wait_until_ready()
        yield portal


@pytest.fixture
def places(tmp_path: Path, settings: Any) -> Path:
    settings.EMBEDDED_SITE, settings.EMBEDDED_DIR = True, tmp_path / "site"
    settings.STORAGE_URL = (tmp_path / "storage").as_uri()
    return tmp_path / "site"


@pytest.fixture
def world(places: Path, db: None) -> Iterator[World]:
    """Two nodes with two GPUs each."""
    made = World(places)
    yield made
    made.close()
