"""What tests ask of any site: its port, and its controllers, which take a step whenever a test looks."""

from collections.abc import Callable
from typing import TypeVar

from k8s.cluster.port import ClusterPort
from k8s.port import Port
from tests.k8s import manifests
from tests.support import wait
from tests.support.apiserver import ApiServer
from tests.support.controllers import Api, Controllers
from tests.support.controllers.api import of, path
from tests.support.kubeletlogs import LogServer
from tests.support.mockapi import MockApi
from tests.support.mockapi import server as mockapi
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


class RealSite(AnySite):
    """A real API server that many tests use one after the other; each finds it empty."""

    def __init__(self, server: ApiServer) -> None:
        self._server = server
        self._doors = LogServer(server.certificate, server.key)
        api = Api(server.url, server.token, server.context())
        self.controllers = Controllers(api, self._doors.logs.write, log_port=self._doors.port)
        self.port: ClusterPort = ClusterPort.from_kubeconfig(server.kubeconfig)
        crd = {**mockapi.crd(), "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
        api.call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd)
        wait.until(lambda: api.call("GET", path("pytorchjobs")), 30)

    def look(self) -> None:
        self.controllers.step()

    def expire_versions(self) -> None:
        for number in range(2):  # the last version before the compaction is still good to watch from
            self.port.apply(manifests.config_map("noise", {"number": str(number)}, "default"))
        self._server.expire(self.port.list_pytorchjobs()[1])

    def close(self) -> None:
        api = self.controllers.api
        for job in api.list("pytorchjobs"):
            api.remove(of("pytorchjobs", job))
        for pod in api.list("pods"):
            api.remove(of("pods", pod), grace=0)
        for name in self._tenants():
            api.remove(path("namespaces", "", name))
        for node in api.list("nodes"):
            api.remove(of("nodes", node))
        self.until(lambda: not self._tenants())
        self.controllers.close()
        self.port.close()
        self._doors.close()

    def _tenants(self) -> list[str]:
        names = [one["metadata"]["name"] for one in self.controllers.api.list("namespaces")]
        return [name for name in names if name.startswith("clu-")]


def furnish(site: AnySite, controllers: Controllers) -> None:
    """Bring up two nodes of two GPUs that belong to the cluster `clu-a`, and its namespace."""
    for name in ("node-1", "node-2"):
        controllers.add_node(name, gpus=2, labels={"pool": "demo", "berth.dev/fabric": "fabric-1"})
        site.port.set_node_owner(name, "clu-a")
    site.port.apply(manifests.namespace())
    site.look()
