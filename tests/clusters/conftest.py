"""An embedded site of its own for each test, its supervisor stepped in this process."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.embedded_site import EmbeddedSite


@pytest.fixture
def world(tmp_path: Path, settings: Any) -> Iterator[EmbeddedSite]:
    settings.EMBEDDED_SITE, settings.EMBEDDED_DIR = True, tmp_path / "site"
    world = EmbeddedSite(settings.EMBEDDED_DIR)
    yield world
    world.close()
