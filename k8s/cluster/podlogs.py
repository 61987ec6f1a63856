"""Reads the containers of a pod one after the other: those that fetch the code, then the main one."""

from dataclasses import replace

from k8s import convert
from k8s.cluster import logs, resources
from k8s.cluster.client import SAFE, Client
from k8s.types import LogChunk, Manifest

OPERATORS_OWN = "init-pytorch"  # waits for the name of the master; its chatter is nobody's log
LEAST = 64 * 1024
ENDED = ("Succeeded", "Failed")


def read(client: Client, namespace: str, pod: str, *, cursor: str | None, limit_bytes: int) -> LogChunk:
    """Do what `Port.read_log` says. The pod is looked at before its log, so that an end is really one."""
    at = logs.parse(cursor)
    path = resources.item("Pod", namespace, pod)
    found = client.call("GET", path, again=SAFE).body
    over = (found.get("status") or {}).get("phase") in ENDED
    names = containers(found)
    if at.container not in names:
        at = logs.Cursor(names[0]) if names else at
    while True:
        state = _state(found, at.container)
        ended = "terminated" in state or over
        has_log = "running" in state or "terminated" in state
        last = not names or at.container == names[-1]
        if not has_log:
            if not ended or last:
                over = ended and last
                return LogChunk((), at.text(), over, _exit_code(found) if over else None)
            at = logs.Cursor(names[names.index(at.container) + 1])
            continue
        limit = at.done + max(limit_bytes, LEAST)
        data = client.read(
            f"{path}/log",
            query={
                "container": at.container,
                "timestamps": "true",
                "sinceTime": at.since or None,
                "limitBytes": limit,
            },
        )
        step = logs.step(data, at, limit_bytes=limit_bytes, truncated=len(data) >= limit, ended=ended)
        complete = ended and step.all_read
        at = replace(step.cursor, container=at.container)
        if complete and not last:
            at = logs.Cursor(names[names.index(at.container) + 1])
            if not step.lines:
                continue
        eof = complete and last
        return LogChunk(step.lines, at.text(), eof, _exit_code(found) if eof else None, step.gap)


def containers(pod: Manifest) -> list[str]:
    """Return the names of the containers whose logs are the run's, in their order."""
    spec = pod.get("spec") or {}
    first = [
        c["name"]
        for c in spec.get("initContainers") or ()
        if c["name"] != OPERATORS_OWN and c.get("restartPolicy") != "Always"
    ]
    main = convert.main_container(pod)
    return [*first, main] if main else first


def _exit_code(pod: Manifest) -> int | None:
    code: int | None = (_state(pod, convert.main_container(pod)).get("terminated") or {}).get("exitCode")
    return code


def _state(pod: Manifest, container: str) -> Manifest:
    status = pod.get("status") or {}
    both = [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]
    found: Manifest = next((c.get("state") or {} for c in both if c.get("name") == container), {})
    return found
