"""Objects, their versions and their history; everything under one lock."""

import base64
import copy
import json
import threading
from dataclasses import dataclass
from typing import Any

from tests.support.mockapi import status
from tests.support.mockapi.kinds import Resource

Object = dict[str, Any]
Key = tuple[str, str]


@dataclass(frozen=True)
class Change:
    """One write; `old` or `new` is None at the two ends of a life."""

    version: int
    resource: Resource
    old: Object | None
    new: Object | None


class Store:
    """What etcd and the watch cache are to a real server."""

    def __init__(self) -> None:
        self.changed = threading.Condition(threading.RLock())
        self.version = 1
        self.floor = 1  # watches from before are too old
        self.history: list[Change] = []
        self._objects: dict[tuple[str, str], dict[Key, Object]] = {}
        self._snapshots: dict[str, list[Object]] = {}

    def of(self, resource: Resource) -> dict[Key, Object]:
        return self._objects.setdefault((resource.group, resource.plural), {})

    def get(self, resource: Resource, namespace: str, name: str) -> Object | None:
        return copy.deepcopy(self.of(resource).get((namespace, name)))

    def find(self, resource: Resource, namespace: str | None = None) -> list[Object]:
        found = self.of(resource)
        keys = sorted(key for key in found if namespace in (None, key[0]))
        return [copy.deepcopy(found[key]) for key in keys]

    def put(self, resource: Resource, obj: Object) -> Object:
        """Store an object under a new version."""
        with self.changed:
            self.version += 1
            obj = copy.deepcopy(obj)
            meta = obj["metadata"]
            meta["resourceVersion"] = str(self.version)
            key = (meta.get("namespace", ""), meta["name"])
            old = self.of(resource).get(key)
            self.of(resource)[key] = obj
            self.history.append(Change(self.version, resource, old, obj))
            self.changed.notify_all()
            return copy.deepcopy(obj)

    def remove(self, resource: Resource, namespace: str, name: str) -> Object:
        with self.changed:
            old = self.of(resource).pop((namespace, name))
            self.version += 1
            last = copy.deepcopy(old)
            last["metadata"]["resourceVersion"] = str(self.version)
            self.history.append(Change(self.version, resource, last, None))
            self.changed.notify_all()
            return last

    def changes(self, after: int, resource: Resource) -> list[Change]:
        with self.changed:
            if after < self.floor:
                raise status.expired(f"too old resource version: {after} ({self.floor})")
            return [c for c in self._tail(after) if c.resource.qualified == resource.qualified]

    def _tail(self, after: int) -> list[Change]:
        found = []
        for change in reversed(self.history):
            if change.version <= after:
                break
            found.append(change)
        return found[::-1]

    def compact(self) -> None:
        """Forget all history and all snapshots of lists."""
        with self.changed:
            self.version += 1
            self.floor = self.version
            self.history.clear()
            self._snapshots.clear()

    def page(self, items: list[Object], limit: int, token: str) -> tuple[list[Object], Object]:
        """Return one page of a list and the list's metadata; later pages come from the first's snapshot."""
        with self.changed:
            if token:
                try:
                    version, start = json.loads(base64.b64decode(token))
                except ValueError:
                    raise status.bad_request("continue key is not valid") from None
                if version not in self._snapshots:
                    raise status.expired(
                        "The provided continue parameter is too old to display a consistent list"
                    )
                items = self._snapshots[version]
            else:
                version, start = f"{self.version}", 0
            meta: Object = {"resourceVersion": version.partition("/")[0]}
            end = start + limit if limit else len(items)
            if end < len(items):
                if not token:
                    version = f"{version}/{len(self._snapshots)}"
                    self._snapshots[version] = items
                meta["continue"] = base64.b64encode(json.dumps([version, end]).encode()).decode()
                meta["remainingItemCount"] = len(items) - end
            return items[start:end], meta
