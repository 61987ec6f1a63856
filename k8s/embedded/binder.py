"""The scheduler's hands: binds waiting gangs to nodes, or notes on their pods why they wait."""

import random
import socket
from collections import Counter, defaultdict

from k8s.embedded import operator, scheduler
from k8s.embedded.cache import Cache, Key, is_over, job_key
from k8s.embedded.store import Store
from k8s.types import Manifest

PORTS = range(20000, 30000)  # below the range from which systems take ports for outgoing connections
PORT_NOTE = "berth.dev/master-port"


def bind(cache: Cache, store: Store) -> None:
    """Give nodes to every gang that fits, oldest first; a gang that does not fit lets others pass."""
    waiting: dict[Key, list[Manifest]] = {}
    used: dict[str, Counter[str]] = defaultdict(Counter)
    ports: set[str] = set()
    for pod in cache.active.values():
        if is_over(pod):
            continue
        if node := pod["spec"].get("nodeName"):
            used[node].update(scheduler.requests(pod))
            ports.add(pod["metadata"]["annotations"].get(PORT_NOTE, ""))
        elif "deletionTimestamp" not in pod["metadata"]:
            waiting.setdefault(job_key(pod), []).append(pod)
    if not waiting:
        return
    with store.write() as site:
        for key in sorted(waiting, key=lambda k: _age(cache, k)):
            job = cache.jobs.get(key)
            if job is None or "deletionTimestamp" in job["metadata"]:
                continue
            found = scheduler.place(waiting[key], cache.nodes.values(), used)
            port = "" if found.nodes is None else _port(cache.pods[key], ports)
            for pod in waiting[key]:
                now = site.get("Pod", key[0], pod["metadata"]["name"])
                if now is None or now["metadata"]["uid"] != pod["metadata"]["uid"]:
                    continue
                if found.nodes is not None:
                    node = found.nodes[now["metadata"]["name"]]
                    used[node].update(scheduler.requests(now))
                    site.put(_bound(job, now, node, port))
                elif _say(now, found.reason):
                    site.put(now)


def _age(cache: Cache, key: Key) -> tuple[str, Key]:
    job = cache.jobs.get(key)
    return (job["metadata"]["creationTimestamp"] if job else "", key)


def _bound(job: Manifest, pod: Manifest, node: str, port: str) -> Manifest:
    pod["spec"]["nodeName"] = node
    pod["metadata"]["annotations"][PORT_NOTE] = port
    pod["status"] = {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "True"}]}
    told = [{"name": n, "value": v} for n, v in operator.environment(job, pod, int(port)).items()]
    for container in pod["spec"]["containers"]:
        container["env"] = [*(container.get("env") or []), *told]
    return pod


def _say(pod: Manifest, reason: str) -> bool:
    """Note why a pod waits; False if that is known."""
    told = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": reason}
    status = {"phase": "Pending", "conditions": [told]}
    if pod.get("status") == status:
        return False
    pod["status"] = status
    return True


def _port(siblings: dict[str, Manifest], taken: set[str]) -> str:
    """Return the port of a gang: the one that its other pods have, or one that nobody listens on."""
    for pod in siblings.values():
        if known := pod["metadata"]["annotations"].get(PORT_NOTE):
            return str(known)
    while True:
        port = random.choice(PORTS)
        if str(port) in taken:
            continue
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        taken.add(str(port))
        return str(port)
