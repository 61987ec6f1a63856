"""Fixtures that every folder of tests may use."""

from collections.abc import Iterator

import hypothesis
import pytest
from django.core.cache import cache

# Machines are shared: no test asserts a time, and slow data is no fault of a test.
hypothesis.settings.register_profile(
    "berth", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("berth")


@pytest.fixture(autouse=True)
def _fresh_cache() -> Iterator[None]:
    """Forget what another test left in Redis: rate limits, sessions, cached pages."""
    yield
    cache.clear()
