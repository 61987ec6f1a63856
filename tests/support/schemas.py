"""Manifests against the models of the official client: unknown fields, wrong types, what is missing."""

import re
from typing import Any

from kubernetes import client

PRIMITIVES: dict[str, type | tuple[type, ...]] = {
    "str": str,
    "int": int,
    "float": (int, float),
    "bool": bool,
    "datetime": str,
}


def model_of(manifest: dict[str, Any]) -> str | None:
    """Return the name of the client's class for a manifest; None for kinds that a CRD defines."""
    group, _, version = manifest["apiVersion"].rpartition("/")
    if "." in group and not group.endswith(".k8s.io"):
        return None
    name = version.capitalize() + manifest["kind"]
    if not hasattr(client, name):
        raise AssertionError(f"the client has no {name}")
    return name


def faults(manifest: dict[str, Any]) -> list[str]:
    """Return what a manifest gets wrong, each with its place."""
    name = model_of(manifest)
    return [] if name is None else list(_check(manifest, name, manifest["kind"]))


def _check(value: Any, kind: str, place: str) -> list[str]:
    if kind == "object":
        return []
    if many := re.fullmatch(r"List\[(.+)\]", kind):
        if not isinstance(value, list):
            return [f"{place} is no list"]
        return [fault for at, one in enumerate(value) for fault in _check(one, many[1], f"{place}[{at}]")]
    if pairs := re.fullmatch(r"Dict\[str, (.+)\]", kind):
        if not isinstance(value, dict):
            return [f"{place} is no mapping"]
        return [fault for key, one in value.items() for fault in _check(one, pairs[1], f"{place}.{key}")]
    if kind in PRIMITIVES:
        right = isinstance(value, PRIMITIVES[kind]) and (kind == "bool" or not isinstance(value, bool))
        return [] if right else [f"{place} is no {kind}: {value!r}"]
    return _check_model(value, getattr(client, kind), place)


def _check_model(value: Any, model: Any, place: str) -> list[str]:
    if not isinstance(value, dict):
        return [f"{place} is no mapping"]
    fields = {written: attribute for attribute, written in model.attribute_map.items()}
    found = [f"{place}.{key} is not known" for key in value if key not in fields]
    for key in fields.keys() & value.keys():
        found += _check(value[key], model.openapi_types[fields[key]], f"{place}.{key}")
    for attribute, field in model.model_fields.items():
        if field.is_required() and model.attribute_map[attribute] not in value:
            found.append(f"{place}.{model.attribute_map[attribute]} is missing")
    return found
