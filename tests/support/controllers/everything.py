"""All controllers, one look at a time: a test decides when they act."""

from datetime import UTC, datetime
from typing import Any

from k8s.embedded import operator
from tests.support.controllers import api as requests
from tests.support.controllers.api import Api, Object, of, path
from tests.support.controllers.kubelet import Kubelet, Sink

FOREGROUND = "foregroundDeletion"
GPU = "nvidia.com/gpu"


class Controllers:
    """Operator, scheduler, kubelet, quota, namespace and garbage controller over HTTP."""

    def __init__(self, api: Api, sink: Sink, *, log_port: int = 0) -> None:
        self.api, self.kubelet, self._log_port = api, Kubelet(api, sink), log_port

    def step(self) -> None:
        """Look once, in the order in which things follow from each other."""
        namespaces = [n for n in self.api.list("namespaces") if not n["metadata"]["name"].startswith("kube-")]
        for namespace in namespaces:
            self._namespace(namespace)
        self._quotas()
        self._jobs()
        self._schedule()
        self.kubelet.step(self.api.list("pods"))
        self._garbage()
        self._claims()

    def close(self) -> None:
        self.kubelet.close()
        self.api.close()

    def add_node(self, name: str, *, gpus: int, labels: dict[str, str]) -> None:
        """Bring a server up, ready; its logs are fetched from the door that the controllers were told of."""
        tags = {"kubernetes.io/hostname": name, **labels}
        self.api.call("POST", path("nodes"), {"metadata": {"name": name, "labels": tags}})
        size = {"cpu": "64", "memory": "512Gi", "pods": "110", GPU: str(gpus)}
        ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": ""}
        ready |= {"lastHeartbeatTime": _now(), "lastTransitionTime": _now()}
        status: Object = {"capacity": size, "allocatable": size, "conditions": [ready]}
        if self._log_port:
            status["addresses"] = [{"type": "InternalIP", "address": "127.0.0.1"}]
            status["daemonEndpoints"] = {"kubeletEndpoint": {"Port": self._log_port}}
        self.api.patch(path("nodes", "", name) + "/status", {"status": status})

    def _namespace(self, namespace: Object) -> None:
        name = namespace["metadata"]["name"]
        if "deletionTimestamp" not in namespace["metadata"]:
            account = {"metadata": {"name": "default"}}
            if not any(a["metadata"]["name"] == "default" for a in self.api.list("serviceaccounts", name)):
                self.api.call("POST", path("serviceaccounts", name), account)
            return
        left = [(plural, obj) for plural in requests.INSIDE for obj in self.api.list(plural, name)]
        for plural, obj in left:
            if "deletionTimestamp" not in obj["metadata"]:
                self.api.remove(of(plural, obj))
        if not left:
            body = {**namespace, "apiVersion": "v1", "kind": "Namespace", "spec": {"finalizers": []}}
            self.api.call("PUT", path("namespaces", "", name) + "/finalize", body)

    def _quotas(self) -> None:
        for quota in self.api.list("resourcequotas"):
            hard = quota["spec"].get("hard") or {}
            if (quota.get("status") or {}).get("hard") != hard:
                used = dict.fromkeys(hard, "0")
                self.api.patch(
                    of("resourcequotas", quota) + "/status", {"status": {"hard": hard, "used": used}}
                )

    def _jobs(self) -> None:
        pods = self.api.list("pods")
        for job in self.api.list("pytorchjobs"):
            meta = job["metadata"]
            if "deletionTimestamp" in meta:
                continue
            mine = {p["metadata"]["name"]: p for p in pods if _owned(p, meta["uid"])}
            decision = operator.decide(job, mine, datetime.now(UTC))
            for pod in decision.create:
                self._create(pod)
            for name in decision.delete:
                self.api.remove(path("pods", meta["namespace"], name))
            if decision.status != job.get("status"):
                where = of("pytorchjobs", job) + "/status"
                self.api.call("PUT", where, {**job, "status": _without_fractions(decision.status)})

    def _create(self, pod: Object) -> None:
        made = {key: value for key, value in pod.items() if key != "status"}
        try:
            self.api.call("POST", path("pods", pod["metadata"]["namespace"]), made)
        except requests.Refused as refused:
            if refused.code != 403:  # a quota: the operator tries again
                raise

    def _schedule(self) -> None:
        nodes, pods = self.api.list("nodes"), self.api.list("pods")
        for pod in pods:
            if pod["spec"].get("nodeName") or "deletionTimestamp" in pod["metadata"]:
                continue
            for node in nodes:
                name = node["metadata"]["name"]
                if _fits(pod, node, [p for p in pods if p["spec"].get("nodeName") == name]):
                    target = {"apiVersion": "v1", "kind": "Node", "name": name}
                    binding = {"apiVersion": "v1", "kind": "Binding", "target": target}
                    binding["metadata"] = {"name": pod["metadata"]["name"]}
                    self.api.call("POST", of("pods", pod) + "/binding", binding)
                    pod["spec"]["nodeName"] = name
                    break

    def _claims(self) -> None:
        for claim in self.api.list("persistentvolumeclaims"):
            if "deletionTimestamp" in claim["metadata"]:
                self.api.patch(of("persistentvolumeclaims", claim), {"metadata": {"finalizers": None}})

    def _garbage(self) -> None:
        jobs, pods = self.api.list("pytorchjobs"), self.api.list("pods")
        alive = {job["metadata"]["uid"] for job in jobs}
        for job in jobs:
            meta = job["metadata"]
            if "deletionTimestamp" not in meta:
                continue
            mine = [pod for pod in pods if _owned(pod, meta["uid"])]
            for pod in mine:
                if "deletionTimestamp" not in pod["metadata"]:
                    self.api.remove(of("pods", pod))
            if not mine:
                kept = [name for name in meta.get("finalizers") or () if name != FOREGROUND]
                self.api.patch(of("pytorchjobs", job), {"metadata": {"finalizers": kept or None}})
        for pod in pods:
            owners = [o for o in pod["metadata"].get("ownerReferences") or () if o["kind"] == "PyTorchJob"]
            if (
                owners
                and not alive & {o["uid"] for o in owners}
                and "deletionTimestamp" not in pod["metadata"]
            ):
                self.api.remove(of("pods", pod))


def _owned(pod: Object, uid: str) -> bool:
    return any(owner["uid"] == uid for owner in pod["metadata"].get("ownerReferences") or ())


def _fits(pod: Object, node: Object, there: list[Object]) -> bool:
    tags, size = node["metadata"].get("labels") or {}, node["status"].get("allocatable") or {}
    if any(tags.get(key) != value for key, value in (pod["spec"].get("nodeSelector") or {}).items()):
        return False
    busy = sum(_gpus(other) for other in there if other["status"].get("phase") not in ("Succeeded", "Failed"))
    return busy + _gpus(pod) <= int(size.get(GPU, 0))


def _gpus(pod: Object) -> int:
    limits: list[dict[str, Any]] = [
        (c.get("resources") or {}).get("limits") or {} for c in pod["spec"]["containers"]
    ]
    return sum(int(one.get(GPU, 0)) for one in limits)


def _without_fractions(value: Any) -> Any:
    """Times in a status are whole seconds at a real operator."""
    if isinstance(value, dict):
        return {key: _without_fractions(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_without_fractions(inner) for inner in value]
    if isinstance(value, str) and len(value) == 27 and value.endswith("Z") and value[19] == ".":
        return value[:19] + "Z"
    return value


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
