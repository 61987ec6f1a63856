"""The resources that the mock serves."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Resource:
    """One resource of one version of a group; `schema` only for those of a CRD."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool = True
    status: bool = False
    schema: Any = field(default=None, compare=False, hash=False, repr=False)

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def qualified(self) -> str:
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def custom(self) -> bool:
        return self.schema is not None


RBAC = "rbac.authorization.k8s.io"
BUILT_IN = (
    Resource("", "v1", "namespaces", "Namespace", False, True),
    Resource("", "v1", "nodes", "Node", False, True),
    Resource("", "v1", "pods", "Pod", True, True),
    Resource("", "v1", "configmaps", "ConfigMap"),
    Resource("", "v1", "secrets", "Secret"),
    Resource("", "v1", "services", "Service", True, True),
    Resource("", "v1", "serviceaccounts", "ServiceAccount"),
    Resource("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", True, True),
    Resource("", "v1", "resourcequotas", "ResourceQuota", True, True),
    Resource("", "v1", "limitranges", "LimitRange"),
    Resource("", "v1", "events", "Event"),
    Resource("networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy"),
    Resource(RBAC, "v1", "roles", "Role"),
    Resource(RBAC, "v1", "rolebindings", "RoleBinding"),
    Resource(RBAC, "v1", "clusterroles", "ClusterRole", False),
    Resource(RBAC, "v1", "clusterrolebindings", "ClusterRoleBinding", False),
    Resource("storage.k8s.io", "v1", "storageclasses", "StorageClass", False),
    Resource("scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", False),
    Resource("apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", False),
)


def from_crd(crd: dict[str, Any]) -> Resource:
    """Return the resource of a CRD's first served version."""
    spec = crd["spec"]
    version = next(v for v in spec["versions"] if v["served"])
    return Resource(
        spec["group"],
        version["name"],
        spec["names"]["plural"],
        spec["names"]["kind"],
        spec["scope"] == "Namespaced",
        "status" in (version.get("subresources") or {}),
        version["schema"]["openAPIV3Schema"],
    )
