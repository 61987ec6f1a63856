"""JSON patch (RFC 6902) and merge patch (RFC 7386)."""

import copy
from typing import Any

from tests.support.mockapi import status


def merged(target: Any, patch: Any) -> Any:
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def patched(target: Any, operations: Any) -> Any:
    document = copy.deepcopy(target)
    if not isinstance(operations, list):
        raise status.bad_request("json patch must be a list of operations")
    for operation in operations:
        document = _apply(document, operation)
    return document


def _apply(document: Any, operation: dict[str, Any]) -> Any:
    kind, parts = operation["op"], _split(operation["path"])
    if kind == "test":
        found = _find(document, parts)
        if found != operation.get("value"):
            raise status.Failure(422, "Invalid", f"testing value {operation['path']} failed: test failed")
        return document
    if kind not in ("add", "replace", "remove"):
        raise status.lacking(f"the JSON patch operation {kind}")
    parent, last = _find(document, parts[:-1]), parts[-1]
    if isinstance(parent, list):
        at = len(parent) if last == "-" else int(last)
        if kind == "add":
            parent.insert(at, operation["value"])
        elif kind == "replace":
            parent[at] = operation["value"]
        else:
            del parent[at]
    elif isinstance(parent, dict):
        if kind != "add" and last not in parent:
            raise _missing(operation["path"])
        if kind == "remove":
            del parent[last]
        else:
            parent[last] = operation["value"]
    else:
        raise _missing(operation["path"])
    return document


def _find(document: Any, parts: list[str]) -> Any:
    for part in parts:
        try:
            document = document[int(part)] if isinstance(document, list) else document[part]
        except (LookupError, ValueError, TypeError):
            return None
    return document


def _split(pointer: str) -> list[str]:
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def _missing(pointer: str) -> status.Failure:
    return status.Failure(
        422, "Invalid", f"the server rejected our request due to an error in our request: {pointer}"
    )
