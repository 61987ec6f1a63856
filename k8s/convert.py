"""Kubernetes JSON to our frozen values: pure, used by every implementation of the port."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, cast

from k8s import labels
from k8s.types import Condition, Manifest, NodeInfo, PodInfo, PodPhase, PyTorchJobInfo, ReplicaStatus

PHASES = ("Pending", "Running", "Succeeded", "Failed")


def parse_time(text: str | None) -> datetime | None:
    """Return an RFC 3339 time as aware UTC; None for nothing."""
    return datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone(UTC) if text else None


def format_time(time: datetime) -> str:
    """Return RFC 3339 in UTC with microseconds, as the site's own records carry it."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def selector_text(selector: Mapping[str, str] | None) -> str:
    """Return equality requirements in the syntax of a label selector."""
    return ",".join(f"{key}={value}" for key, value in sorted((selector or {}).items()))


def pytorchjob(obj: Manifest) -> PyTorchJobInfo:
    """Return what a PyTorchJob object says."""
    meta, status = obj["metadata"], obj.get("status") or {}
    return PyTorchJobInfo(
        name=meta["name"],
        namespace=meta["namespace"],
        uid=meta.get("uid", ""),
        resource_version=meta.get("resourceVersion", ""),
        labels=dict(meta.get("labels") or {}),
        conditions=tuple(_condition(c) for c in status.get("conditions") or ()),
        replicas={
            kind: ReplicaStatus(r.get("active", 0), r.get("succeeded", 0), r.get("failed", 0))
            for kind, r in (status.get("replicaStatuses") or {}).items()
        },
        created_at=parse_time(meta.get("creationTimestamp")),
        started_at=parse_time(status.get("startTime")),
        finished_at=parse_time(status.get("completionTime")),
        deleted="deletionTimestamp" in meta,
    )


def _condition(obj: Manifest) -> Condition:
    return Condition(
        type=obj["type"],
        status=obj.get("status") == "True",
        reason=obj.get("reason") or "",
        message=obj.get("message") or "",
        changed_at=parse_time(obj.get("lastTransitionTime")),
    )


def pod(obj: Manifest) -> PodInfo:
    """Return what a Pod object says, main container first."""
    meta, spec, status = obj["metadata"], obj.get("spec") or {}, obj.get("status") or {}
    tags = meta.get("labels") or {}
    main, state = _main_state(spec, status), _telling_state(spec, status)
    ended = state.get("terminated") or {}
    waiting = state.get("waiting") or {}
    unscheduled: Manifest = next(
        (
            c
            for c in status.get("conditions") or ()
            if c.get("type") == "PodScheduled" and c.get("status") == "False"
        ),
        {},
    )
    phase = status.get("phase")
    kind, index = tags.get(labels.OPERATOR_TYPE), tags.get(labels.OPERATOR_INDEX)
    said: tuple[Manifest, ...] = (status, ended, waiting, unscheduled)
    return PodInfo(
        name=meta["name"],
        namespace=meta["namespace"],
        uid=meta.get("uid", ""),
        labels=dict(tags),
        run=tags.get(labels.RUN, ""),
        replica=f"{kind}-{index}" if kind is not None and index is not None else meta["name"],
        phase=cast("PodPhase", phase) if phase in PHASES else "Unknown",
        reason=next((s["reason"] for s in said if s.get("reason")), ""),
        message=next((s["message"] for s in said if s.get("message")), ""),
        exit_code=ended.get("exitCode"),
        node=spec.get("nodeName") or "",
        created_at=parse_time(meta.get("creationTimestamp")),
        started_at=next(
            (parse_time(s["startedAt"]) for s in main.values() if isinstance(s, dict) and s.get("startedAt")),
            None,
        ),
        finished_at=parse_time(ended.get("finishedAt")),
        deleted="deletionTimestamp" in meta,
    )


def _telling_state(spec: Manifest, status: Manifest) -> Manifest:
    """Return the state that explains the pod: a failed or waiting init container, else the main one."""
    for entry in status.get("initContainerStatuses") or ():
        state: Manifest = entry.get("state") or {}
        failed = (state.get("terminated") or {}).get("exitCode", 0) != 0
        if failed or (state.get("waiting") or {}).get("reason") not in (None, "PodInitializing"):
            return state
    return _main_state(spec, status)


def _main_state(spec: Manifest, status: Manifest) -> Manifest:
    name = main_container({"spec": spec})
    entries: list[Manifest] = status.get("containerStatuses") or []
    return next((entry.get("state") or {} for entry in entries if entry.get("name") == name), {})


def main_container(pod: Manifest) -> str:
    """Return the name of the container that does the work, whatever a site has put beside it."""
    names: list[str] = [c.get("name", "") for c in (pod.get("spec") or {}).get("containers") or ()]
    return "pytorch" if "pytorch" in names else (names[0] if names else "")


def node(obj: Manifest) -> NodeInfo:
    """Return what a Node object says."""
    meta, spec, status = obj["metadata"], obj.get("spec") or {}, obj.get("status") or {}
    tags = dict(meta.get("labels") or {})
    size: Mapping[str, Any] = status.get("allocatable") or status.get("capacity") or {}
    return NodeInfo(
        name=meta["name"],
        labels=tags,
        gpus=sum(int(size.get(name, 0)) for name in labels.ACCELERATORS),
        ready=any(
            c.get("type") == "Ready" and c.get("status") == "True" for c in status.get("conditions") or ()
        ),
        schedulable=not spec.get("unschedulable", False),
        owner=tags.get(labels.CLUSTER, ""),
        fabric=tags.get(labels.FABRIC, ""),
    )
