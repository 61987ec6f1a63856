"""Fixtures of money: a localstripe process per session, and an installation that takes cards through it."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support import localstripe


@pytest.fixture(scope="session")
def local_stripe() -> Iterator[localstripe.LocalStripe]:
    server = localstripe.start()
    yield server
    server.stop()


@pytest.fixture
def stripe_on(local_stripe: localstripe.LocalStripe, settings: Any) -> localstripe.LocalStripe:
    settings.STRIPE_SECRET_KEY = localstripe.KEY
    settings.STRIPE_PUBLISHABLE_KEY = "pk_test_of_localstripe"
    settings.STRIPE_WEBHOOK_SECRET = localstripe.WEBHOOK_SECRET
    settings.STRIPE_API_BASE = local_stripe.base
    settings.STRIPE_SCRIPT_URL = f"{local_stripe.base}/js.stripe.com/v3/"
    return local_stripe
