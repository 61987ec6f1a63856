"""The supervisor's picture of the site, kept from the log of changes: work grows with what changed."""

from collections import defaultdict
from typing import TypeVar

from k8s import labels
from k8s.embedded import operator
from k8s.embedded.store import Change, Store
from k8s.types import Manifest

Key = tuple[str, str]  # namespace, name
AnyKey = TypeVar("AnyKey")
KINDS = ("PyTorchJob", "Pod", "Node", "ResourceQuota", "Namespace", "PersistentVolumeClaim")
SETTLING = ("ConfigMap", "Secret", "PersistentVolumeClaim")  # pods may wait for one of these


class Cache:
    """Objects by kind, and which jobs and which waiting pods deserve another look."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.jobs: dict[Key, Manifest] = {}
        self.pods: dict[Key, dict[str, Manifest]] = defaultdict(dict)  # by the key of their job
        self.active: dict[Key, Manifest] = {}  # pods that have not ended or are to be deleted
        self.nodes: dict[str, Manifest] = {}
        self.quotas: dict[Key, Manifest] = {}
        self.closing: set[str] = set()  # namespaces being deleted
        self.closing_claims: set[Key] = set()
        self._room = self._settled = True
        with store.read() as site:
            self._seen = site.version()
            objects = [obj for kind in KINDS for obj in site.find(kind)]
        self._dirty: set[Key] = set()
        for obj in objects:
            self._take(obj["kind"], obj, gone=False)

    def refresh(self) -> set[Key]:
        """Take in what changed; return the jobs that it touched."""
        while True:
            with self._store.read() as site:
                found: list[Change] = site.changes(self._seen)
            for change in found:
                self._seen = change.version
                if change.kind in SETTLING:
                    self._settled = True
                if change.kind in KINDS:
                    self._take(change.kind, change.body, gone=change.type == "deleted")
            if not found:
                break
        dirty, self._dirty = self._dirty, set()
        return dirty

    def take_news(self) -> tuple[bool, bool]:
        """Say once whether room for pods changed, and whether objects that pods may wait for did."""
        news, self._room, self._settled = (self._room, self._settled), False, False
        return news

    def pods_of(self, namespace: str) -> list[Manifest]:
        return [pod for key, pods in self.pods.items() if key[0] == namespace for pod in pods.values()]

    def _take(self, kind: str, obj: Manifest, *, gone: bool) -> None:
        meta = obj["metadata"]
        key = (meta.get("namespace", ""), meta["name"])
        deleted = "deletionTimestamp" in meta and not gone
        if kind == "PyTorchJob":
            _keep(self.jobs, key, obj, gone)
            self._dirty.add(key)
        elif kind == "Pod":
            job = job_key(obj)
            _keep(self.pods[job], key[1], obj, gone)
            if not self.pods[job]:
                del self.pods[job]
            _keep(self.active, key, obj, gone or (is_over(obj) and not deleted))
            self._dirty.add(job)
            self._room = True
        elif kind == "Node":
            _keep(self.nodes, key[1], obj, gone)
            self._room = True
        elif kind == "ResourceQuota":
            _keep(self.quotas, key, obj, gone)
            self._room = True
        elif kind == "Namespace":
            (self.closing.add if deleted else self.closing.discard)(key[1])
        else:
            (self.closing_claims.add if deleted else self.closing_claims.discard)(key)


def _keep(place: dict[AnyKey, Manifest], key: AnyKey, obj: Manifest, gone: bool) -> None:
    if gone:
        place.pop(key, None)
    else:
        place[key] = obj


def job_key(pod: Manifest) -> Key:
    """Return the key of the job that a pod belongs to."""
    return (pod["metadata"]["namespace"], pod["metadata"]["labels"][labels.OPERATOR_JOB])


def is_over(pod: Manifest) -> bool:
    """Say whether nothing of a pod runs any more."""
    return (pod.get("status") or {}).get("phase") in operator.TERMINAL
