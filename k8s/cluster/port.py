"""The port on a Kubernetes cluster: `k8s.port.Port`, and what the checks of a site ask beyond it."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from k8s import admission, convert, errors
from k8s.cluster import access, deletion, listing, ownership, podlogs, probes, resources, watching
from k8s.cluster.client import APPLY, IDEMPOTENT, SAFE, Client
from k8s.labels import FIELD_MANAGER
from k8s.types import (
    ApplyResult,
    IssuedToken,
    LogChunk,
    Manifest,
    NodeInfo,
    Permission,
    PodInfo,
    PyTorchJobInfo,
    StorageClass,
    WatchEvent,
)

SITES_OWN = (("ConfigMap", "kube-root-ca.crt"), ("ServiceAccount", "default"))


class ClusterPort:
    """Cheap to make, connects with the first call; safe in threads and after forks."""

    def __init__(self, client: Client) -> None:
        self._client = client

    @classmethod
    def from_kubeconfig(cls, config: Mapping[str, Any] | str, *, timeout: float = 10.0) -> "ClusterPort":
        """Use a kubeconfig that was found acceptable; raises `access.Unusable` when it says too little."""
        return cls(Client(access.from_kubeconfig(config), timeout=timeout))

    @classmethod
    def in_cluster(cls, *, timeout: float = 10.0) -> "ClusterPort":
        """Use the service account of the pod that we run in; raises `access.Unusable` outside of one."""
        return cls(Client(access.in_cluster(), timeout=timeout))

    def with_timeout(self, timeout: float) -> "ClusterPort":
        """Return a port to the same site for callers who cannot wait as long."""
        return ClusterPort(self._client.with_timeout(timeout))

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def version(self) -> str:
        return f"Kubernetes {probes.version(self._client)}"

    def apply(self, manifest: Manifest, *, dry_run: bool = False) -> ApplyResult:
        wanted = admission.admit(manifest)
        kind, meta = wanted["kind"], wanted["metadata"]
        query = {"fieldManager": FIELD_MANAGER, "force": "true", "dryRun": "All" if dry_run else None}
        path = resources.item(kind, meta.get("namespace", ""), meta["name"])
        answer = self._client.call(
            "PATCH", path, query=query, body=wanted, content_type=APPLY, again=IDEMPOTENT
        )
        made = answer.body["metadata"]
        if "deletionTimestamp" in made:
            raise errors.Conflict(f"{kind} {meta['name']} is still being deleted.")
        return ApplyResult(made["uid"], made.get("resourceVersion", ""), answer.status == 201)

    def get(self, kind: str, namespace: str, name: str) -> Manifest | None:
        try:
            return self._client.call("GET", resources.item(kind, namespace, name), again=SAFE).body
        except (errors.NotFound, errors.UnknownKind):
            return None

    def delete(self, kind: str, namespace: str, name: str, *, grace_seconds: int | None = None) -> bool:
        return deletion.delete(self._client, kind, namespace, name, grace_seconds=grace_seconds)

    def list_objects(self, namespace: str) -> list[tuple[str, str]]:
        found = set()
        for kind, (_, in_namespace) in admission.KINDS.items():
            if in_namespace:
                found |= {(kind, name) for name in self._names(kind, namespace)}
        return sorted(found - set(SITES_OWN))

    def _names(self, kind: str, namespace: str) -> list[str]:
        path = resources.collection(kind, namespace)
        try:
            items, _ = listing.pages(self._client, path, accept=listing.NAMES_ONLY)
        except errors.UnknownKind:
            return []  # a site without the operator has no such objects
        return [item["metadata"]["name"] for item in items]

    def list_pytorchjobs(
        self, namespace: str | None = None, selector: Mapping[str, str] | None = None
    ) -> tuple[list[PyTorchJobInfo], str]:
        path = resources.collection("PyTorchJob", namespace)
        items, version = listing.pages(self._client, path, selector=convert.selector_text(selector))
        return [convert.pytorchjob(item) for item in items], version

    def watch_pytorchjobs(self, resource_version: str, *, timeout: float) -> Iterator[WatchEvent]:
        return watching.pytorchjobs(self._client, resource_version, timeout=timeout)

    def list_pods(self, namespace: str, selector: Mapping[str, str] | None = None) -> list[PodInfo]:
        found = listing.all_items(self._client, "Pod", namespace, convert.selector_text(selector))
        return sorted((convert.pod(item) for item in found), key=lambda pod: pod.name)

    def read_log(self, namespace: str, pod: str, *, cursor: str | None, limit_bytes: int) -> LogChunk:
        return podlogs.read(self._client, namespace, pod, cursor=cursor, limit_bytes=limit_bytes)

    def list_nodes(self) -> list[NodeInfo]:
        found = listing.all_items(self._client, "Node")
        return sorted((convert.node(item) for item in found), key=lambda node: node.name)

    def set_node_owner(self, node: str, cluster: str | None, *, previous: str | None = None) -> None:
        ownership.set_owner(self._client, node, cluster, previous=previous)

    # What the checks of a site ask.

    def served_versions(self, group: str, resource: str) -> tuple[str, ...]:
        """Return the versions of a group that serve a resource, such as ("v1",) for `pytorchjobs`."""
        return probes.served(self._client, group, resource)

    def can(self, permissions: Iterable[Permission]) -> dict[Permission, bool]:
        """Return which of these our credentials may do (SelfSubjectAccessReview)."""
        return probes.can(self._client, permissions)

    def extended_resources(self) -> dict[str, int]:
        """Return the devices that all nodes offer together, such as {"nvidia.com/gpu": 64}."""
        return probes.extended_resources(self._client)

    def storage_classes(self) -> list[StorageClass]:
        """Return the storage classes of the site by name."""
        return probes.storage_classes(self._client)

    def token_request(self, namespace: str, account: str, *, seconds: int) -> IssuedToken:
        """Have a token issued for a service account; raises NotFound without it."""
        return probes.token_request(self._client, namespace, account, seconds)
