"""Sites for tests: an embedded one whose supervisor takes a step whenever a test looks."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from k8s.embedded import launch, processes
from k8s.embedded.port import EmbeddedPort
from k8s.embedded.supervisor import Supervisor
from tests.k8s import manifests
from tests.support import wait

Result = TypeVar("Result")


class EmbeddedSite:
    """A port, and the controllers behind it in this very process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = EmbeddedPort(folder)
        self.supervisor: Supervisor | None = self.supervise()

    def supervise(self) -> Supervisor:
        bin_folder = Path(sys.executable).parent
        self.supervisor = Supervisor(launch.Settings(folder=self.folder, bin_folders=(bin_folder,)))
        return self.supervisor

    def until(self, condition: Callable[[], Result], seconds: float = 30) -> Result:
        """Let the controllers work until the condition holds."""

        def look() -> Result:
            if self.supervisor is not None:
                self.supervisor.step()
            return condition()

        return wait.until(look, seconds)

    def condition(self, job: str, kind: str, namespace: str = "clu-a") -> bool:
        """Say whether a condition of a job is true now."""
        found, _ = self.port.list_pytorchjobs(namespace)
        return any(one.condition(kind) for one in found if one.name == job)

    def ended(self, job: str) -> str:
        """Wait for the end of a job and return the name of its condition."""
        return self.until(lambda: next((k for k in ("Succeeded", "Failed") if self.condition(job, k)), ""))

    def phases(self, namespace: str = "clu-a") -> dict[str, str]:
        return {pod.replica: pod.phase for pod in self.port.list_pods(namespace)}

    def log(self, pod: str, namespace: str = "clu-a") -> list[str]:
        """Read the whole log of a pod that has ended, in small bites."""
        texts, cursor = [], None
        while True:
            chunk = self.port.read_log(namespace, pod, cursor=cursor, limit_bytes=1)
            texts += [line.text for line in chunk.lines]
            cursor = chunk.cursor
            if chunk.eof:
                return texts

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
