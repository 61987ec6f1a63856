"""An embedded site inside the test's own process: the supervisor works when the test tells it to."""

from pathlib import Path

from clusters.models import Cluster, Node
from clusters.services import ports
from k8s.embedded import launch
from k8s.embedded.port import EmbeddedPort
from k8s.embedded.supervisor import Supervisor


class EmbeddedSite:
    """The site of the folder that ``settings.EMBEDDED_DIR`` names, without any process of its own."""

    def __init__(self, folder: Path) -> None:
        self.supervisor = Supervisor(launch.Settings(folder=folder))
        self.port: EmbeddedPort = ports.embedded()

    def register(self) -> None:
        """Make every node of the database known to the site."""
        for node in Node.objects.select_related("node_type"):
            self.port.ensure_node(node.name, gpus=node.node_type.gpus_per_node, fabric=node.fabric_domain)

    def work(self) -> None:
        """Let the supervisor do all that can be done now."""
        for _ in range(20):
            if self.supervisor.step() > 0:
                return

    def owners(self) -> dict[str, str]:
        """Return the owner of each node that has one."""
        return {node.name: node.owner for node in self.port.list_nodes() if node.owner}

    def objects(self, cluster: Cluster) -> list[tuple[str, str]]:
        """Return what is in the namespace of a cluster."""
        return self.port.list_objects(cluster.object_name)

    def close(self) -> None:
        self.supervisor.close()
        self.port.close()
