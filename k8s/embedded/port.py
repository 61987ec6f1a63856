"""The port on an embedded site: reads and writes the shared store, and wakes the supervisor.

Deletion of pods, jobs, claims and namespaces is only marked here; the supervisor carries it out.
"""

import copy
import fcntl
import os
import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from k8s import admission, convert, errors
from k8s.embedded import logs, paths, processes, wake
from k8s.embedded.store import Snapshot, Store, Transaction
from k8s.labels import CLUSTER, FABRIC, GPU
from k8s.types import ApplyResult, LogChunk, Manifest, NodeInfo, PodInfo, PyTorchJobInfo, WatchEvent

DEFERRED = ("Namespace", "PersistentVolumeClaim", "Pod", "PyTorchJob")
POLL_SECONDS = 0.05
BOOKMARK_SECONDS = 5.0
FIRST_STATUS: dict[str, Manifest] = {
    "Namespace": {"phase": "Active"},
    "PersistentVolumeClaim": {"phase": "Bound"},
}


class EmbeddedPort:
    """`k8s.port.Port` on the folder of an embedded site; cheap to make, safe in threads and after forks."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = Store(folder)

    def close(self) -> None:
        self.store.close()

    def claim_folder(self, namespace: str, claim: str) -> Path:
        """Return the folder that a claim is on this machine; it exists once a pod has mounted it."""
        return paths.claim(self.folder, namespace, claim)

    def version(self) -> str:
        with self.store.read() as site:
            return f"embedded site, {site.version()} changes"

    def ensure_node(
        self,
        name: str,
        *,
        gpus: int,
        labels: Mapping[str, str] | None = None,
        fabric: str = "",
        resource: str = GPU,
    ) -> None:
        """Seed a server, or change its size and labels; whoever owns it keeps it."""
        with self.store.write() as site:
            old = site.get("Node", "", name)
            node = copy.deepcopy(old) if old else fresh({"apiVersion": "v1", "kind": "Node", "metadata": {}})
            meta = node["metadata"]
            owner = (meta.get("labels") or {}).get(CLUSTER)
            meta["name"], meta["labels"] = name, {"kubernetes.io/hostname": name, **(labels or {})}
            if fabric:
                meta["labels"][FABRIC] = fabric
            if owner:
                meta["labels"][CLUSTER] = owner
            size = {resource: str(gpus)}
            node.setdefault("spec", {})
            node["status"] = {"capacity": size, "allocatable": size}
            if node != old:
                site.put(node)
        wake.poke(self.folder)

    def apply(self, manifest: Manifest, *, dry_run: bool = False) -> ApplyResult:
        wanted = copy.deepcopy(admission.admit(manifest))
        kind, meta = wanted["kind"], wanted["metadata"]
        namespace, name = meta.get("namespace", ""), meta["name"]
        with self.store.read() if dry_run else self.store.write() as site:
            _check_namespace(site, namespace)
            old = site.get(kind, namespace, name)
            if old is None:
                obj = fresh(wanted)
                if kind in FIRST_STATUS:
                    obj["status"] = dict(FIRST_STATUS[kind])
            elif "deletionTimestamp" in old["metadata"]:
                raise errors.Conflict(f"{kind} {name} is still being deleted.")
            else:
                obj = _merged(old, wanted)
            if isinstance(site, Transaction) and obj != old:
                site.put(obj)
        if not dry_run and obj != old:
            wake.poke(self.folder)
        return ApplyResult(obj["metadata"]["uid"], obj["metadata"].get("resourceVersion", ""), old is None)

    def get(self, kind: str, namespace: str, name: str) -> Manifest | None:
        admission.scoped(kind)
        with self.store.read() as site:
            return site.get(kind, namespace, name)

    def delete(self, kind: str, namespace: str, name: str, *, grace_seconds: int | None = None) -> bool:
        admission.scoped(kind)
        if kind == "Node":
            raise errors.Refused("Objects of kind Node belong to the site.", reason="forbidden")
        with self.store.write() as site:
            obj = site.get(kind, namespace, name)
            if obj is None:
                return False
            if kind in DEFERRED:
                mark_deleted(site, obj, grace_seconds)
            else:
                site.remove(kind, namespace, name)
        wake.poke(self.folder)
        return True

    def list_objects(self, namespace: str) -> list[tuple[str, str]]:
        with self.store.read() as site:
            return site.names(namespace)

    def list_pytorchjobs(
        self, namespace: str | None = None, selector: Mapping[str, str] | None = None
    ) -> tuple[list[PyTorchJobInfo], str]:
        with self.store.read() as site:
            found, version = site.find("PyTorchJob", namespace, selector), site.version()
        return [convert.pytorchjob(obj) for obj in found], str(version)

    def watch_pytorchjobs(self, resource_version: str, *, timeout: float) -> Iterator[WatchEvent]:
        seen = int(resource_version) if resource_version.isdecimal() else -1
        deadline = time.monotonic() + timeout
        bookmark_at = time.monotonic() + BOOKMARK_SECONDS
        stamp: tuple[int, int] | None = None
        while True:
            latest = self.store.stamp()
            if latest != stamp:
                stamp = latest
                with self.store.read() as site:
                    floor, version = site.floor(), site.version()
                    found = site.changes(seen, kind="PyTorchJob")
                if not floor <= seen <= version:
                    raise errors.Gone(f"Resource version {resource_version} is too old to watch from.")
                if found:
                    stamp = None  # there may be more than one page
                for change in found:
                    seen = change.version
                    job = convert.pytorchjob(change.body)
                    yield WatchEvent(change.type, str(change.version), job)
                if not found:
                    seen = version
            now = time.monotonic()
            if now >= bookmark_at or now >= deadline:
                yield WatchEvent("bookmark", str(seen))
                bookmark_at = now + BOOKMARK_SECONDS
            if now >= deadline:
                return
            if stamp is not None:
                time.sleep(min(POLL_SECONDS, deadline - now))

    def list_pods(self, namespace: str, selector: Mapping[str, str] | None = None) -> list[PodInfo]:
        with self.store.read() as site:
            return [convert.pod(obj) for obj in site.find("Pod", namespace, selector)]

    def read_log(self, namespace: str, pod: str, *, cursor: str | None, limit_bytes: int) -> LogChunk:
        with self.store.read() as site:
            obj = site.get("Pod", namespace, pod)
            uid = obj["metadata"]["uid"] if obj else site.ended_pod(namespace, pod)
        if uid is None:
            raise errors.NotFound(f"There is no pod {pod}.")
        ended = obj is None or (obj.get("status") or {}).get("phase") in ("Succeeded", "Failed")
        path = paths.log(self.folder, uid)
        chunk = logs.read(path, cursor=cursor, limit_bytes=limit_bytes, ended=ended)
        if not chunk.eof:
            return chunk
        result = processes.result(paths.pod(self.folder, uid))
        if result is None or result["init"]:
            return chunk
        return replace(chunk, exit_code=result["exit_code"])

    def list_nodes(self) -> list[NodeInfo]:
        alive = self._supervised()
        with self.store.read() as site:
            nodes = site.find("Node")
        for node in nodes:
            node["status"]["conditions"] = [{"type": "Ready", "status": "True" if alive else "Unknown"}]
        return [convert.node(node) for node in nodes]

    def set_node_owner(self, node: str, cluster: str | None, *, previous: str | None = None) -> None:
        with self.store.write() as site:
            obj = site.get("Node", "", node)
            if obj is None:
                raise errors.NotFound(f"There is no node {node}.")
            tags = obj["metadata"]["labels"]
            owner = tags.get(CLUSTER)
            free_anyway = cluster is None and previous is None
            if owner not in (None, cluster, previous) and not free_anyway:
                raise errors.Conflict(f"Node {node} belongs to {owner}.")
            if owner == cluster:
                return
            taints = [t for t in obj["spec"].get("taints", []) if t["key"] != CLUSTER]
            tags.pop(CLUSTER, None)
            if cluster is not None:
                tags[CLUSTER] = cluster
                taints.append({"key": CLUSTER, "value": cluster, "effect": "NoSchedule"})
            obj["spec"]["taints"] = taints
            site.put(obj)
        wake.poke(self.folder)

    def _supervised(self) -> bool:
        """Say whether a supervisor runs: without one, nodes are not ready."""
        try:
            fd = os.open(paths.supervisor_lock(self.folder), os.O_RDWR)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(fd)
        return False


def mark_deleted(site: Transaction, obj: Manifest, grace_seconds: int | None) -> None:
    """Note the wish to delete; a second wish can only shorten the grace."""
    meta = obj["metadata"]
    before = meta.get("deletionGracePeriodSeconds")
    if "deletionTimestamp" in meta and (
        grace_seconds is None or (before is not None and before <= grace_seconds)
    ):
        return
    meta.setdefault("deletionTimestamp", convert.format_time(datetime.now(UTC)))
    if grace_seconds is not None:
        meta["deletionGracePeriodSeconds"] = max(0, grace_seconds)
    if obj["kind"] == "Namespace":
        obj["status"] = {"phase": "Terminating"}
    site.put(obj)


def fresh(obj: Manifest) -> Manifest:
    """Return a new object with what the API server adds."""
    meta = {**obj["metadata"], "uid": str(uuid.uuid4()), "generation": 1}
    return {**obj, "metadata": meta | {"creationTimestamp": convert.format_time(datetime.now(UTC))}}


def _merged(old: Manifest, wanted: Manifest) -> Manifest:
    """Return the wanted object with what the site has added to the old one."""
    kept = ("uid", "creationTimestamp", "generation", "resourceVersion")
    meta = {**wanted["metadata"], **{k: old["metadata"][k] for k in kept if k in old["metadata"]}}
    merged = {**wanted, "metadata": meta}
    if "status" in old:
        merged["status"] = old["status"]
    if merged.get("spec") != old.get("spec"):
        meta["generation"] = old["metadata"].get("generation", 1) + 1
    return merged


def _check_namespace(site: Snapshot, namespace: str) -> None:
    if not namespace:
        return
    found = site.get("Namespace", "", namespace)
    if found is None:
        raise errors.NotFound(f"There is no namespace {namespace}.")
    if "deletionTimestamp" in found["metadata"]:
        raise errors.Refused(f"Namespace {namespace} is being terminated.", reason="forbidden")
