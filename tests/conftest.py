"""Fixtures that every folder of tests may use."""

from collections.abc import Iterator

import pytest
from django.core.cache import cache


@pytest.fixture(autouse=True)
def _fresh_cache() -> Iterator[None]:
    """Forget what another test left in Redis: rate limits, sessions, cached pages."""
    yield
    cache.clear()
