"""Server-side apply: who owns which field, what an apply takes over and what it drops.

Lists are atomic, except owner references (by uid) and finalizers (a set), as in most of a CRD's schema.
"""

import copy
from typing import Any

Path = tuple[str, ...]
Object = dict[str, Any]
SKIPPED = {("apiVersion",), ("kind",), ("metadata", "name"), ("metadata", "namespace")}
OURS = ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "deletionTimestamp")
SKIPPED |= {("metadata", key) for key in (*OURS, "deletionGracePeriodSeconds", "selfLink")}


def leaves(obj: Any, path: Path = ()) -> dict[Path, Any]:
    """Return the fields of an object with their values; an empty mapping is a field itself."""
    if path in SKIPPED:
        return {}
    if isinstance(obj, dict) and (obj or not path):
        found: dict[Path, Any] = {}
        for key, value in obj.items():
            found |= leaves(value, (*path, key))
        return found
    return {path: obj}


def encode(paths: set[Path]) -> Object:
    """Return paths in the shape of `fieldsV1`."""
    tree: Object = {}
    for path in sorted(paths):
        here = tree
        for part in path:
            here = here.setdefault(f"f:{part}", {})
    return tree


def decode(tree: Object, path: Path = ()) -> set[Path]:
    """Return the paths of a `fieldsV1`."""
    found: set[Path] = set()
    for key, inner in tree.items():
        here = (*path, key.removeprefix("f:"))
        found |= decode(inner, here) if inner else {here}
    return found


def owned(obj: Object, manager: str, operation: str, subresource: str = "") -> set[Path]:
    """Return what a manager owns."""
    for entry in obj["metadata"].get("managedFields") or ():
        if _key(entry) == (manager, operation, subresource):
            return decode(entry["fieldsV1"])
    return set()


def others(obj: Object, key: tuple[str, str, str]) -> dict[Path, str]:
    """Return who else owns which field."""
    found: dict[Path, str] = {}
    for entry in obj["metadata"].get("managedFields") or ():
        if _key(entry) != key:
            found |= dict.fromkeys(decode(entry["fieldsV1"]), entry["manager"])
    return found


def merge(live: Object, config: Object) -> Object:
    """Return the live object with what the configuration says."""
    merged = dict(live)
    for key, value in config.items():
        if isinstance(value, dict) and isinstance(live.get(key), dict):
            merged[key] = merge(live[key], value)
        elif key == "ownerReferences":
            kept = [o for o in live.get(key) or () if o["uid"] not in {n["uid"] for n in value}]
            merged[key] = kept + value
        elif key == "finalizers" and isinstance(live.get(key), list):
            merged[key] = live[key] + [n for n in value if n not in live[key]]
        else:
            merged[key] = copy.deepcopy(value)
    return merged


def drop(obj: Object, path: Path) -> None:
    """Remove a field, and the mappings that are empty without it."""
    parents = [obj]
    for part in path[:-1]:
        inner = parents[-1].get(part)
        if not isinstance(inner, dict):
            return
        parents.append(inner)
    parents[-1].pop(path[-1], None)
    for depth in range(len(path) - 1, 0, -1):
        if parents[depth] or (depth == 1 and path[0] in ("metadata", "spec")):
            break
        parents[depth - 1].pop(path[depth - 1], None)


def record(obj: Object, key: tuple[str, str, str], paths: set[Path], api_version: str, now: str) -> None:
    """Write who owns what: these paths belong to one manager, and to the others what is left."""
    manager, operation, subresource = key
    entries = []
    before = obj["metadata"].get("managedFields") or []
    for entry in before:
        if _key(entry) == key:
            continue
        left = decode(entry["fieldsV1"]) if operation == "Apply" else decode(entry["fieldsV1"]) - paths
        if left:
            entries.append({**entry, "fieldsV1": encode(left)})
    same = next((e for e in before if _key(e) == key and decode(e["fieldsV1"]) == paths), None)
    if paths:
        fresh = {"manager": manager, "operation": operation, "apiVersion": api_version, "time": now}
        fresh |= {"fieldsType": "FieldsV1", "fieldsV1": encode(paths)}
        if subresource:
            fresh["subresource"] = subresource
        entries.append(same or fresh)
    obj["metadata"]["managedFields"] = entries


def release(obj: Object, paths: set[Path], keep: tuple[str, str, str]) -> None:
    """Take fields away from all but one manager (a forced apply)."""
    entries = []
    for entry in obj["metadata"].get("managedFields") or ():
        left = decode(entry["fieldsV1"]) - (set() if _key(entry) == keep else paths)
        if left:
            entries.append({**entry, "fieldsV1": encode(left)})
    obj["metadata"]["managedFields"] = entries


def _key(entry: Object) -> tuple[str, str, str]:
    return entry["manager"], entry["operation"], entry.get("subresource", "")
