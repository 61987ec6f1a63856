"""Worlds that the tests of pages look at."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.training import World


@pytest.fixture
def world(tmp_path: Path, settings: Any, db: None) -> Iterator[World]:
    """Give an owner with a ready cluster of two nodes with two GPUs."""
    settings.EMBEDDED_DIR = tmp_path / "site"
    settings.STORAGE_URL = (tmp_path / "storage").as_uri()
    made = World(tmp_path / "site")
    yield made
    made.close()
