"""A world to train in for each test."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.training import World


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
