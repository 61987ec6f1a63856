"""What k8s/deploy builds, and a real API server to try it on where there is one."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support import apiserver, kustomize, tree
from tests.support.apiserver import ApiServer

FOLDER = tree.ROOT / "k8s" / "deploy"
OVERLAYS = ("small", "production")


@pytest.fixture(params=OVERLAYS)
def overlay(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def built(overlay: str) -> list[dict[str, Any]]:
    """All manifests of an overlay."""
    return kustomize.build(FOLDER / overlay)


@pytest.fixture(scope="session")
def api_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    """A real kube-apiserver, where there is one."""
    binaries = apiserver.assets()
    if binaries is None:
        pytest.skip(apiserver.SKIPPED)
    server = ApiServer(binaries, tmp_path_factory.mktemp("apiserver"))
    yield server
    server.close()
