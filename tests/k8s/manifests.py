"""Manifests for tests, in the shape that Berth makes them."""

from typing import Any

RUN, CLUSTER = "berth.dev/run", "berth.dev/cluster"


def namespace(name: str = "clu-a") -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {CLUSTER: name}}}


def claim(name: str, namespace: str = "clu-a") -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}},
    }


def config_map(name: str, data: dict[str, str], namespace: str = "clu-a") -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace},
        "data": data,
    }


def secret(name: str, data: dict[str, str], namespace: str = "clu-a") -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": namespace},
        "stringData": data,
    }


def quota(gpus: int, namespace: str = "clu-a") -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "gpus", "namespace": namespace},
        "spec": {"hard": {"requests.nvidia.com/gpu": str(gpus)}},
    }


def job(
    name: str,
    command: list[str] | None = None,
    *,
    worker: list[str] | None = None,
    workers: int = 0,
    gpus: int = 0,
    namespace: str = "clu-a",
    grace: int = 5,
    pod: dict[str, Any] | None = None,
    container: dict[str, Any] | None = None,
    **policy: Any,
) -> dict[str, Any]:
    """Return a PyTorchJob; `pod` and `container` add to the pod spec and to its main container."""

    def replica(command: list[str], count: int) -> dict[str, Any]:
        main = {"name": "pytorch", "image": "none", "command": command, **(container or {})}
        if gpus:
            main["resources"] = {"limits": {"nvidia.com/gpu": gpus}}
        spec = {
            "terminationGracePeriodSeconds": grace,
            "nodeSelector": {CLUSTER: namespace},
            "tolerations": [
                {"key": CLUSTER, "operator": "Equal", "value": namespace, "effect": "NoSchedule"}
            ],
            "containers": [main],
            **(pod or {}),
        }
        tags = {RUN: name, CLUSTER: namespace}
        return {
            "replicas": count,
            "restartPolicy": "Never",
            "template": {"metadata": {"labels": tags}, "spec": spec},
        }

    command = command or ["true"]
    replicas = {"Master": replica(command, 1)}
    if workers:
        replicas["Worker"] = replica(worker or command, workers)
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": name, "namespace": namespace, "labels": {RUN: name, CLUSTER: namespace}},
        "spec": {
            "nprocPerNode": "1",
            "runPolicy": {"cleanPodPolicy": "Running", **policy},
            "pytorchReplicaSpecs": replicas,
        },
    }


def shell(script: str) -> list[str]:
    return ["sh", "-c", script]
