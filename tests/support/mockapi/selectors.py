"""Label and field selectors."""

import re
from collections.abc import Callable
from typing import Any

from tests.support.mockapi import status

Object = dict[str, Any]
FIELDS: dict[str, Callable[[Object], str]] = {
    "metadata.name": lambda obj: obj["metadata"]["name"],
    "metadata.namespace": lambda obj: obj["metadata"].get("namespace", ""),
    "spec.nodeName": lambda obj: (obj.get("spec") or {}).get("nodeName", ""),
    "status.phase": lambda obj: (obj.get("status") or {}).get("phase", ""),
    "involvedObject.name": lambda obj: (obj.get("involvedObject") or {}).get("name", ""),
    "involvedObject.uid": lambda obj: (obj.get("involvedObject") or {}).get("uid", ""),
    "involvedObject.kind": lambda obj: (obj.get("involvedObject") or {}).get("kind", ""),
}


def matcher(labels: str, fields: str) -> Callable[[Object], bool]:
    """Return what says whether an object is selected; raises 400 or 501 for what it cannot read."""
    tests = [_label(part) for part in _split(labels)] + [_field(part) for part in _split(fields)]
    return lambda obj: all(test(obj) for test in tests)


def _split(text: str) -> list[str]:
    return [part.strip() for part in re.split(r",(?![^(]*\))", text) if part.strip()]


def _label(part: str) -> Callable[[Object], bool]:
    def value(obj: Object, key: str) -> str | None:
        return (obj["metadata"].get("labels") or {}).get(key)

    if found := re.fullmatch(r"([^\s=!]+)\s+(in|notin)\s+\(([^)]*)\)", part):
        key, word, listed = found.groups()
        wanted = {one.strip() for one in listed.split(",")}
        return lambda obj: (value(obj, key) in wanted) == (word == "in")
    if found := re.fullmatch(r"([^\s=!]+)\s*(==|=|!=)\s*([^\s=!]*)", part):
        key, sign, text = found.groups()
        return lambda obj: (value(obj, key) == text) == (sign != "!=")
    if found := re.fullmatch(r"(!?)([^\s=!]+)", part):
        absent, key = found.groups()
        return lambda obj: (value(obj, key) is None) == bool(absent)
    raise status.bad_request(f"unable to parse requirement: {part}")


def _field(part: str) -> Callable[[Object], bool]:
    found = re.fullmatch(r"([\w.]+)(==|=|!=)(.*)", part)
    if not found:
        raise status.bad_request(f"invalid selector: {part}")
    key, sign, text = found.groups()
    if key not in FIELDS:
        raise status.lacking(f"the field selector {key}")
    return lambda obj: (FIELDS[key](obj) == text) == (sign != "!=")
