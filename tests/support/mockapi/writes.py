"""Create, apply, patch, update and delete, with the rules of a real API server."""

import copy
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.support.mockapi import fields, patches, quota, status, validation
from tests.support.mockapi.kinds import BUILT_IN, Resource
from tests.support.mockapi.store import Store

Object = dict[str, Any]
NAMESPACES = next(r for r in BUILT_IN if r.kind == "Namespace")
QUOTAS = next(r for r in BUILT_IN if r.kind == "ResourceQuota")
APPLY, MERGE, JSON = (
    "application/apply-patch+yaml",
    "application/merge-patch+json",
    "application/json-patch+json",
)
FOREGROUND = "foregroundDeletion"


class Writer:
    """Writes to a store; each call is one request."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def create(self, resource: Resource, namespace: str, obj: Object, manager: str, *, dry: bool) -> Object:
        obj = copy.deepcopy(obj)
        meta = obj.setdefault("metadata", {})
        if "name" not in meta and meta.get("generateName"):
            meta["name"] = meta["generateName"] + uuid.uuid4().hex[:5]
        if meta.get("resourceVersion"):
            raise status.bad_request("resourceVersion should not be set on objects to be created")
        if self.store.get(resource, namespace, meta.get("name", "")):
            raise status.exists(resource, meta["name"])
        self._enter(resource, namespace, meta.get("name", ""))
        meta["managedFields"] = []
        fresh = self._fresh(resource, namespace, obj)
        fields.record(fresh, (manager, "Update", ""), set(fields.leaves(obj)), resource.api_version, now())
        return fresh if dry else self.store.put(resource, fresh)

    def apply(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        config: Object,
        manager: str,
        *,
        force: bool,
        dry: bool,
    ) -> tuple[int, Object]:
        """Server-side apply; returns 201 with a new object."""
        meta = config.setdefault("metadata", {})
        if config.get("apiVersion") != resource.api_version or config.get("kind") != resource.kind:
            raise status.bad_request("the object's apiVersion and kind do not match the request")
        if meta.setdefault("name", name) != name:
            raise status.bad_request(
                f"the name of the object ({meta['name']}) does not match the name on the URL ({name})"
            )
        if meta.get("managedFields"):
            raise status.bad_request("metadata.managedFields must be nil")
        key, paths = (manager, "Apply", ""), set(fields.leaves(config))
        live = self.store.get(resource, namespace, name)
        if live is None:
            if meta.get("uid"):
                raise status.modified(resource, name, "the object does not exist")
            self._enter(resource, namespace, name)
            fresh = self._fresh(resource, namespace, config)
            fields.record(fresh, key, paths, resource.api_version, now())
            return 201, fresh if dry else self.store.put(resource, fresh)
        self._same_version(resource, live, meta)
        merged = fields.merge(live, {k: v for k, v in config.items() if k != "status" or not resource.status})
        values = fields.leaves(live)
        rivals = fields.others(live, key)
        stolen = {p for p in paths & set(rivals) if values.get(p) != fields.leaves(config)[p]}
        if stolen and not force:
            one = sorted(stolen)[0]
            text = (
                f'Apply failed with {len(stolen)} conflict: conflict with "{rivals[one]}": .{".".join(one)}'
            )
            raise status.Failure(409, "Conflict", text)
        for path in fields.owned(live, manager, "Apply") - paths:
            if path not in rivals and not any(p[: len(path)] == path for p in paths):
                fields.drop(merged, path)
        fields.release(merged, stolen, key)
        fields.record(merged, key, paths, resource.api_version, now())
        return 200, self._save(resource, live, validation.admit(resource, merged), dry=dry)

    def patch(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        change: Any,
        kind: str,
        manager: str,
        sub: str,
        *,
        dry: bool,
    ) -> Object:
        live = self.store.get(resource, namespace, name)
        if live is None:
            raise status.not_found(resource, name)
        if kind not in (MERGE, JSON):
            if resource.custom:
                raise status.Failure(
                    415, "UnsupportedMediaType", "the body of the request was in an unknown format"
                )
            raise status.lacking(f"patches of type {kind}")
        wanted = patches.merged(live, change) if kind == MERGE else patches.patched(live, change)
        return self.update(resource, namespace, name, wanted, manager, sub, dry=dry)

    def update(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        wanted: Object,
        manager: str,
        sub: str,
        *,
        dry: bool,
    ) -> Object:
        live = self.store.get(resource, namespace, name)
        if live is None:
            raise status.not_found(resource, name)
        self._same_version(resource, live, wanted["metadata"])
        if sub == "status":
            changed = {**live, "status": wanted.get("status")}
        elif sub == "finalize":
            changed = {**live, "spec": wanted.get("spec")}
        else:
            changed = {**wanted, "metadata": dict(wanted["metadata"])}
            if resource.status:
                changed["status"] = live.get("status")
            for key in fields.OURS:
                changed["metadata"].pop(key, None)
                if key in live["metadata"]:
                    changed["metadata"][key] = copy.deepcopy(live["metadata"][key])
        changed = {key: value for key, value in changed.items() if value is not None}
        changed = copy.deepcopy(validation.admit(resource, changed))
        before, after = fields.leaves(live), fields.leaves(changed)
        mine = {p for p, value in after.items() if p not in before or before[p] != value}
        if mine:
            key = (manager, "Update", sub)
            mine |= fields.owned(live, *key) & set(after)
            fields.record(changed, key, mine, resource.api_version, now())
        return self._save(resource, live, changed, dry=dry)

    def delete(self, resource: Resource, namespace: str, name: str, options: Object, *, dry: bool) -> Object:
        live = self.store.get(resource, namespace, name)
        if live is None:
            raise status.not_found(resource, name)
        meta = live["metadata"]
        wanted = (options.get("preconditions") or {}).get("uid")
        if wanted and wanted != meta["uid"]:
            why = f"Precondition failed: UID in precondition: {wanted}, UID in object meta: {meta['uid']}"
            raise status.modified(resource, name, why)
        grace = self._grace(resource, live, options.get("gracePeriodSeconds"))
        if options.get("propagationPolicy") == "Foreground" and FOREGROUND not in meta.get("finalizers", ()):
            meta.setdefault("finalizers", []).append(FOREGROUND)
        held = meta.get("finalizers") or (live.get("spec") or {}).get("finalizers") or grace
        if dry:
            return live
        if not held:
            return self.store.remove(resource, namespace, name)
        before = meta.get("deletionGracePeriodSeconds")
        if before is None or (resource.kind == "Pod" and grace < before):
            meta["deletionGracePeriodSeconds"] = grace
            meta["deletionTimestamp"] = stamp(datetime.now(UTC) + timedelta(seconds=grace))
        if resource.kind == "Namespace":
            live["status"] = {**(live.get("status") or {}), "phase": "Terminating"}
        if live == self.store.get(resource, namespace, name):
            return live
        return self.store.put(resource, live)

    def bind(self, resource: Resource, namespace: str, name: str, node: str) -> None:
        """Give a pod to a node, as a scheduler does."""
        pod = self.store.get(resource, namespace, name)
        if pod is None:
            raise status.not_found(resource, name)
        if pod["spec"].get("nodeName"):
            raise status.modified(resource, name, f"pod {name} is already assigned to node")
        pod["spec"]["nodeName"] = node
        said = pod.setdefault("status", {})
        kept = [c for c in said.get("conditions") or () if c["type"] != "PodScheduled"]
        said["conditions"] = [*kept, {"type": "PodScheduled", "status": "True", "lastTransitionTime": now()}]
        self.store.put(resource, pod)

    def _grace(self, resource: Resource, obj: Object, wanted: int | None) -> int:
        """Return the seconds that a deletion leaves; only a pod on a node that has not ended gets any."""
        spec, phase = obj.get("spec") or {}, (obj.get("status") or {}).get("phase")
        if resource.kind != "Pod" or not spec.get("nodeName") or phase in ("Succeeded", "Failed"):
            return 0
        return spec.get("terminationGracePeriodSeconds", 30) if wanted is None else wanted

    def _enter(self, resource: Resource, namespace: str, name: str) -> None:
        if not resource.namespaced:
            return
        found = self.store.get(NAMESPACES, "", namespace)
        if found is None:
            raise status.not_found(NAMESPACES, namespace)
        if "deletionTimestamp" in found["metadata"]:
            why = f"unable to create new content in namespace {namespace} because it is being terminated"
            cause = {
                "reason": "NamespaceTerminating",
                "message": f"namespace {namespace} is being terminated",
            }
            raise status.forbidden(resource, name, why, causes=[cause | {"field": "metadata.namespace"}])

    def _fresh(self, resource: Resource, namespace: str, obj: Object) -> Object:
        obj = validation.admit(resource, {**obj, "metadata": dict(obj["metadata"])})
        obj = {"apiVersion": resource.api_version, "kind": resource.kind, **obj}
        meta = obj["metadata"]
        if namespace and meta.setdefault("namespace", namespace) != namespace:
            raise status.bad_request(
                "the namespace of the object does not match the namespace on the request"
            )
        meta["uid"], meta["creationTimestamp"] = str(uuid.uuid4()), now()
        if resource.status and resource.kind != "Node":
            obj.pop("status", None)
        if resource.custom or resource.kind == "Pod":
            meta["generation"] = 1
        if resource.kind == "Namespace":
            obj["spec"], obj["status"] = {"finalizers": ["kubernetes"]}, {"phase": "Active"}
            meta["labels"] = {**(meta.get("labels") or {}), "kubernetes.io/metadata.name": meta["name"]}
        elif resource.kind in ("Pod", "PersistentVolumeClaim"):
            obj["status"] = {"phase": "Pending"}
        if resource.kind == "PersistentVolumeClaim":  # the admission plugin StorageObjectInUseProtection
            meta["finalizers"] = [*(meta.get("finalizers") or ()), "kubernetes.io/pvc-protection"]
        quota.check(self.store, QUOTAS, resource, obj)
        return obj

    def _same_version(self, resource: Resource, live: Object, meta: Object) -> None:
        for key in ("resourceVersion", "uid"):
            if meta.get(key) and meta[key] != live["metadata"][key]:
                raise status.modified(resource, live["metadata"]["name"])

    def _save(self, resource: Resource, live: Object, changed: Object, *, dry: bool) -> Object:
        if changed == live or dry:
            return changed
        meta = changed["metadata"]
        if "generation" in meta and changed.get("spec") != live.get("spec"):
            meta["generation"] += 1
        saved = self.store.put(resource, changed)
        held = meta.get("finalizers") or (resource.kind == "Namespace" and changed["spec"].get("finalizers"))
        if "deletionTimestamp" in meta and not held and not meta.get("deletionGracePeriodSeconds"):
            return self.store.remove(resource, meta.get("namespace", ""), meta["name"])
        return saved


def now() -> str:
    return stamp(datetime.now(UTC))


def stamp(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")
