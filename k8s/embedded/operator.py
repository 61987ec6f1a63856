"""The training operator's rules as pure functions: which pods a PyTorchJob wants and what its status says.

Source: kubeflow/trainer release-1.9, pkg/controller.v1 (common and pytorch), restartPolicy Never.
"""

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from k8s import convert, labels
from k8s.types import Manifest

CONTROLLER = "pytorchjob-controller"
TERMINAL = ("Succeeded", "Failed")


@dataclass(frozen=True, slots=True)
class Decision:
    """What is to be done for one job now; `again` is when time alone will change the answer."""

    status: Manifest
    create: tuple[Manifest, ...] = ()
    delete: tuple[str, ...] = ()
    again: datetime | None = None
    expired: bool = False


def decide(job: Manifest, pods: Mapping[str, Manifest], now: datetime) -> Decision:
    """Look at a job and its pods (by name) and say what the operator would do."""
    name, policy = job["metadata"]["name"], job["spec"].get("runPolicy") or {}
    clean = policy.get("cleanPodPolicy", "None")
    status: Manifest = copy.deepcopy(job.get("status") or {})
    if is_final(job):
        return _finished(status, policy, pods, now)
    _set(status, "Created", "True", "Created", f"PyTorchJob {name} is created.", now)
    if policy.get("suspend"):
        message = f"PyTorchJob {name} is suspended."
        if _is_true(status, "Running"):
            _set(status, "Running", "False", "Suspended", message, now)
        _set(status, "Suspended", "True", "Suspended", message, now)
        status["replicaStatuses"] = {}
        return Decision(status, delete=_to_delete(pods, "All"))
    if _is_true(status, "Suspended"):
        _set(status, "Suspended", "False", "Resumed", f"PyTorchJob {name} is resumed.", now)
        status.pop("startTime", None)  # the deadline counts from the resumption
    status.setdefault("startTime", convert.format_time(now))
    again = None
    if limit := policy.get("activeDeadlineSeconds"):
        started = convert.parse_time(status["startTime"])
        assert started is not None
        again = started + timedelta(seconds=limit)
        if now >= again:
            message = f"PyTorchJob {name} has failed because it was active longer than specified deadline"
            _end(status, "Failed", message, now)
            return Decision(status, delete=_to_delete(pods, clean))
    missing = _count(job, status, pods, now)
    if any(_is_true(status, end) for end in TERMINAL):
        return Decision(status, delete=_to_delete(pods, clean))
    return Decision(status, create=tuple(missing), again=again)


def is_final(job: Manifest) -> bool:
    """Say whether nothing will change any more except for cleaning up."""
    return any(_is_true(job.get("status") or {}, end) for end in TERMINAL)


def _finished(status: Manifest, policy: Manifest, pods: Mapping[str, Manifest], now: datetime) -> Decision:
    """Clean up, and count pods of a finished job once more: they may have ended since."""
    delete = _to_delete(pods, policy.get("cleanPodPolicy", "None"))
    ttl = policy.get("ttlSecondsAfterFinished")
    ended = convert.parse_time(status.get("completionTime"))
    if _is_true(status, "Succeeded"):
        for one in status.get("replicaStatuses", {}).values():
            if one.get("active"):
                one["succeeded"] = one.get("succeeded", 0) + one.pop("active")
    if ttl is None or ended is None:
        return Decision(status, delete=delete)
    due = ended + timedelta(seconds=ttl)
    return Decision(status, delete=delete, again=due, expired=now >= due)


def _count(job: Manifest, status: Manifest, pods: Mapping[str, Manifest], now: datetime) -> list[Manifest]:
    """Write replica statuses and conditions; return the pods that are missing."""
    name, specs = job["metadata"]["name"], job["spec"]["pytorchReplicaSpecs"]
    missing: list[Manifest] = []
    status["replicaStatuses"] = {}
    for kind, spec in specs.items():
        counts = {"active": 0, "succeeded": 0, "failed": 0}
        for index in range(spec.get("replicas", 1)):
            pod = pods.get(pod_name(name, kind, index))
            phase = (pod or {}).get("status", {}).get("phase")
            if pod is None:
                missing.append(_pod(job, kind, index))
            elif phase == "Running":
                counts["failed" if "deletionTimestamp" in pod["metadata"] else "active"] += 1
            elif phase in TERMINAL:
                counts[phase.lower()] += 1
        status["replicaStatuses"][kind] = {word: n for word, n in counts.items() if n}
    for kind, spec in specs.items():
        counts = status["replicaStatuses"][kind]
        active, succeeded, failed = (counts.get(word, 0) for word in ("active", "succeeded", "failed"))
        leads = kind == "Master" or "Master" not in specs
        if leads and succeeded == spec.get("replicas", 1):
            _end(status, "Succeeded", f"PyTorchJob {name} is successfully completed.", now)
            break
        if leads and active:
            _set(status, "Running", "True", "Running", f"PyTorchJob {name} is running.", now)
        if failed:
            message = f"PyTorchJob {name} is failed because {failed} {kind} replica(s) failed."
            _end(status, "Failed", message, now)
    return missing


def _to_delete(pods: Mapping[str, Manifest], policy: str) -> tuple[str, ...]:
    def wanted(pod: Manifest) -> bool:
        if "deletionTimestamp" in pod["metadata"]:
            return False
        return policy == "All" or (policy == "Running" and pod.get("status", {}).get("phase") not in TERMINAL)

    return tuple(name for name, pod in pods.items() if wanted(pod))


def _is_true(status: Manifest, kind: str) -> bool:
    return any(c["type"] == kind and c["status"] == "True" for c in status.get("conditions", ()))


def _end(status: Manifest, kind: str, message: str, now: datetime) -> None:
    status.setdefault("completionTime", convert.format_time(now))
    _set(status, kind, "True", kind, message, now)


def _set(status: Manifest, kind: str, value: str, reason: str, message: str, now: datetime) -> None:
    """Append a condition as the operator does; nothing follows a failure."""
    if _is_true(status, "Failed"):
        return
    stamp, old = convert.format_time(now), status.get("conditions", [])
    before = next((c for c in old if c["type"] == kind), None)
    reason = f"PyTorchJob{reason}"
    if before and before["status"] == value and before["reason"] == reason:
        return
    kept = [c for c in old if c["type"] != kind]
    if kind in TERMINAL:
        kept = [{**c, "status": "False"} if c["type"] == "Running" else c for c in kept]
    since = before["lastTransitionTime"] if before and before["status"] == value else stamp
    fresh = {"type": kind, "status": value, "reason": reason, "message": message}
    status["conditions"] = [*kept, fresh | {"lastUpdateTime": stamp, "lastTransitionTime": since}]


def pod_name(job: str, kind: str, index: int) -> str:
    return f"{job}-{kind.lower()}-{index}"


def _pod(job: Manifest, kind: str, index: int) -> Manifest:
    meta, specs = job["metadata"], job["spec"]["pytorchReplicaSpecs"]
    template = copy.deepcopy(specs[kind]["template"])
    inner = template.get("metadata") or {}
    tags = {
        **(inner.get("labels") or {}),
        labels.OPERATOR_NAME: CONTROLLER,
        labels.OPERATOR_JOB: meta["name"],
        labels.OPERATOR_TYPE: kind.lower(),
        labels.OPERATOR_INDEX: str(index),
    }
    if kind == "Master" or ("Master" not in specs and index == 0):
        tags[labels.OPERATOR_ROLE] = "master"
    owner = {"apiVersion": job["apiVersion"], "kind": "PyTorchJob", "name": meta["name"], "uid": meta["uid"]}
    spec = template["spec"]
    spec["restartPolicy"] = "Never"
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": pod_name(meta["name"], kind, index),
            "namespace": meta["namespace"],
            "labels": tags,
            "annotations": inner.get("annotations") or {},
            "ownerReferences": [owner | {"controller": True, "blockOwnerDeletion": True}],
        },
        "spec": spec,
        "status": {"phase": "Pending"},
    }


def environment(job: Manifest, pod: Manifest, port: int) -> dict[str, str]:
    """Return what the operator puts into every container of a pod; the address is this machine's."""
    specs = job["spec"]["pytorchReplicaSpecs"]
    tags, nproc = pod["metadata"]["labels"], job["spec"].get("nprocPerNode")
    total = sum(spec.get("replicas", 1) for spec in specs.values())
    found = {"PYTHONUNBUFFERED": "1"}
    if "Master" in specs:
        first = 0 if tags[labels.OPERATOR_TYPE] == "master" else 1
        rank = str(int(tags[labels.OPERATOR_INDEX]) + first)
        world = total * (int(nproc) if nproc and nproc.isdecimal() else 1)
        found |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
        found |= {"PET_MASTER_ADDR": "127.0.0.1", "PET_MASTER_PORT": str(port)}
        found |= {"WORLD_SIZE": str(world), "RANK": rank, "PET_NODE_RANK": rank}
    if nproc:
        found["PET_NPROC_PER_NODE"] = nproc
    found["PET_NNODES"] = str(total)
    return found
