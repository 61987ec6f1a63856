"""What every test run gets before Django's settings are read: services, closed network, strict templates."""

import os
from collections.abc import Generator
from pathlib import Path

import pytest

from portal import catalogues
from tests.support import network, services


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Generator[None]:
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker is None:
        catalogues.compile_all(Path(__file__).parents[2])  # so that pages speak Chinese
        services.start()
    else:
        services.use_own(worker)
    network.close()
    try:
        return (yield)
    except BaseException:
        services.stop()
        raise


def pytest_unconfigure(config: pytest.Config) -> None:
    services.stop()
