"""The Kubernetes objects that a cluster needs, as manifests of plain values.

A namespace of its own with Pod Security, a quota of GPUs and objects, defaults for containers, a network
closed to other tenants, a service account whose token no pod gets, and two shared volumes. Names are ours;
what a customer typed goes into an annotation only.
"""

from dataclasses import dataclass
from typing import Any

from k8s import labels

Manifest = dict[str, Any]

# Where a tenant's pod may not go: link-local (the metadata address) and private ranges, which hold the API
# server and the machines of the site. What a site offers inside them, the site opens by a policy of its own.
CLOSED_RANGES = ["10.0.0.0/8", "100.64.0.0/10", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16"]
CLOSED_RANGES_V6 = ["fc00::/7", "fe80::/10"]
PODS_PER_GPU = 4
OBJECTS = 2000
DATA_GIB_PER_NODE = 1024
CHECKPOINTS_GIB_PER_NODE = 1024


@dataclass(frozen=True, slots=True)
class Plan:
    """What the objects are made from; ``namespace`` is the object name of the cluster."""

    namespace: str
    name: str
    organisation: str
    nodes: int
    gpus: int
    gpu_resource: str = labels.GPU
    storage_class: str = ""  # of the shared volumes; empty: the default of the site


def objects(plan: Plan) -> list[Manifest]:
    """Return all manifests in the order in which they are applied, the namespace first."""
    return [
        _namespace(plan),
        _quota(plan),
        _limits(plan),
        _network(plan),
        _service_account(plan),
        _claim(plan, "data", DATA_GIB_PER_NODE),
        _claim(plan, "checkpoints", CHECKPOINTS_GIB_PER_NODE),
    ]


def _object(plan: Plan, api: str, kind: str, name: str, **body: Any) -> Manifest:
    metadata = {"name": name, "namespace": plan.namespace, "labels": {labels.CLUSTER: plan.namespace}}
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **body}


def _namespace(plan: Plan) -> Manifest:
    security = "pod-security.kubernetes.io"
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": plan.namespace,
            "labels": {
                labels.CLUSTER: plan.namespace,
                f"{security}/enforce": "baseline",
                f"{security}/warn": "restricted",
                f"{security}/audit": "restricted",
            },
            "annotations": {"berth.dev/name": plan.name, "berth.dev/organisation": plan.organisation},
        },
    }


def _quota(plan: Plan) -> Manifest:
    hard = {
        f"requests.{plan.gpu_resource}": str(plan.gpus),
        "pods": str(max(50, plan.gpus * PODS_PER_GPU)),
        "persistentvolumeclaims": "2",
        "services.loadbalancers": "0",
        "services.nodeports": "0",
        "count/configmaps": str(OBJECTS),
        "count/secrets": str(OBJECTS),
        "count/services": str(OBJECTS),
        "count/pytorchjobs.kubeflow.org": str(OBJECTS),
    }
    return _object(plan, "v1", "ResourceQuota", "berth", spec={"hard": hard})


def _limits(plan: Plan) -> Manifest:
    small = {"cpu": "1", "memory": "1Gi"}
    return _object(
        plan,
        "v1",
        "LimitRange",
        "berth",
        spec={"limits": [{"type": "Container", "defaultRequest": small}]},
    )


def _network(plan: Plan) -> Manifest:
    same_namespace: Manifest = {"podSelector": {}}
    dns = {
        "to": [
            {
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "kube-system"}},
                "podSelector": {"matchLabels": {"k8s-app": "kube-dns"}},
            }
        ],
        "ports": [{"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53}],
    }
    outside = {
        "to": [
            {"ipBlock": {"cidr": "0.0.0.0/0", "except": CLOSED_RANGES}},
            {"ipBlock": {"cidr": "::/0", "except": CLOSED_RANGES_V6}},
        ]
    }
    return _object(
        plan,
        "networking.k8s.io/v1",
        "NetworkPolicy",
        "berth",
        spec={
            "podSelector": {},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [{"from": [same_namespace]}],
            "egress": [{"to": [same_namespace]}, dns, outside],
        },
    )


def _service_account(plan: Plan) -> Manifest:
    """The account that pods get when they name none."""
    return _object(plan, "v1", "ServiceAccount", "default", automountServiceAccountToken=False)


def _claim(plan: Plan, name: str, gib_per_node: int) -> Manifest:
    spec: Manifest = {
        "accessModes": ["ReadWriteMany"],
        "resources": {"requests": {"storage": f"{gib_per_node * plan.nodes}Gi"}},
    }
    if plan.storage_class:  # left out, the site fills in its default; an empty name would mean none
        spec["storageClassName"] = plan.storage_class
    return _object(plan, "v1", "PersistentVolumeClaim", name, spec=spec)
