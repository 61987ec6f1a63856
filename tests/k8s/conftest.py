"""Sites for tests: an embedded one whose supervisor takes a step whenever a test looks."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from k8s.embedded import launch, processes
from k8s.embedded.port import EmbeddedPort
from k8s.embedded.supervisor import Supervisor
from tests.k8s import manifests
from tests.k8s.sites import AnySite, MockSite, RealSite, furnish
from tests.support import apiserver
from tests.support.apiserver import ApiServer


class EmbeddedSite(AnySite):
    """A port, and the controllers behind it in this very process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = EmbeddedPort(folder)
        self.supervisor: Supervisor | None = self.supervise()

    def supervise(self) -> Supervisor:
        bin_folder = Path(sys.executable).parent
        self.supervisor = Supervisor(launch.Settings(folder=self.folder, bin_folders=(bin_folder,)))
        return self.supervisor

    def look(self) -> None:
        if self.supervisor is not None:
            self.supervisor.step()

    def expire_versions(self) -> None:
        """Make old resource versions too old to watch from."""
        with self.port.store.write() as site:
            site.compact(keep=0)

    def close(self) -> None:
        """End all pods and let go."""
        supervisor = self.supervisor or self.supervise()
        for live in supervisor.kubelet.live.values():
            processes.terminate(live.folder, 0)
        supervisor.shut_down()
        supervisor.close()
        self.port.close()


@pytest.fixture
def empty_site(tmp_path: Path) -> Iterator[EmbeddedSite]:
    site = EmbeddedSite(tmp_path / "site")
    yield site
    site.close()


@pytest.fixture
def site(empty_site: EmbeddedSite) -> EmbeddedSite:
    """A site with two nodes of two GPUs that belong to the cluster `clu-a`, whose namespace is there."""
    port = empty_site.port
    for name in ("node-1", "node-2"):
        port.ensure_node(name, gpus=2, labels={"pool": "demo"}, fabric="fabric-1")
        port.set_node_owner(name, "clu-a")
    port.apply(manifests.namespace())
    return empty_site


@pytest.fixture
def mock_site() -> Iterator[MockSite]:
    """The same on the mock API server, spoken to by the official client."""
    site = MockSite()
    furnish(site, site.controllers)
    yield site
    site.close()


@pytest.fixture(scope="session")
def api_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    """A real kube-apiserver, where there is one."""
    binaries = apiserver.assets()
    if binaries is None:
        pytest.skip(apiserver.SKIPPED)
    server = ApiServer(binaries, tmp_path_factory.mktemp("apiserver"))
    yield server
    server.close()


@pytest.fixture
def real_site(api_server: ApiServer) -> Iterator[RealSite]:
    """The same on a real API server, whose controllers are played by the test."""
    site = RealSite(api_server)
    furnish(site, site.controllers)
    yield site
    site.close()
