"""What tests ask of any site: its port, and its controllers, which take a step whenever a test looks."""

from collections.abc import Callable
from typing import TypeVar

from k8s.cluster.port import ClusterPort
from k8s.port import Port
from tests.k8s import manifests
from tests.support import wait
from tests.support.controllers import Api, Controllers
from tests.support.mockapi import MockApi
from tests.support.mockapi.server import TOKEN

Result = TypeVar("Result")


class AnySite:
    """A port, and the controllers behind it in this very process."""

    port: Port

    def look(self) -> None:
        """Let the controllers take a step."""
        raise NotImplementedError

    def expire_versions(self) -> None:
        """Make old resource versions too old to watch from."""
        raise NotImplementedError

    def close(self) -> None:
        """End all pods and let go."""
        raise NotImplementedError

    def until(self, condition: Callable[[], Result], seconds: float = 30) -> Result:
        """Let the controllers work until the condition holds."""

        def look() -> Result:
            self.look()
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


class MockSite(AnySite):
    """The mock API server, with controllers that are played by the test."""

    def __init__(self, *, operator: bool = True) -> None:
        self.api = MockApi(operator=operator)
        self.controllers = Controllers(Api(self.api.url, TOKEN), self.api.logs.write)
        self.port: ClusterPort = ClusterPort.from_kubeconfig(self.api.kubeconfig)

    def look(self) -> None:
        self.controllers.step()

    def expire_versions(self) -> None:
        self.api.compact()

    def close(self) -> None:
        self.controllers.close()
        self.port.close()
        self.api.close()


def furnish(site: AnySite, controllers: Controllers) -> None:
    """Bring up two nodes of two GPUs that belong to the cluster `clu-a`, and its namespace."""
    for name in ("node-1", "node-2"):
        controllers.add_node(name, gpus=2, labels={"pool": "demo", "berth.dev/fabric": "fabric-1"})
        site.port.set_node_owner(name, "clu-a")
    site.port.apply(manifests.namespace())
    site.look()
