"""What a real API server checks and fills in before it stores an object."""

import base64
import copy
import re
from typing import Any

import jsonschema

from tests.support.mockapi import status
from tests.support.mockapi.kinds import Resource

Object = dict[str, Any]
LABEL_1123 = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
LABEL_1035 = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")
SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
QUALIFIED = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
MAX_DATA = 1024 * 1024


def admit(resource: Resource, obj: Object) -> Object:
    """Return the object as it will be stored, or raise 422."""
    obj = copy.deepcopy(obj)
    meta = obj["metadata"]
    causes = [*_name(resource, meta.get("name", "")), *_labels(meta)]
    if resource.custom:
        obj = _pruned(resource.schema, obj)
        causes += _schema(resource.schema, obj)
    elif resource.kind in ("ConfigMap", "Secret"):
        causes += _data(resource, obj)
    elif resource.kind == "Pod":
        causes += _pod(obj)
    if causes:
        raise status.invalid(resource, meta.get("name", ""), causes)
    return obj


def _name(resource: Resource, name: Any) -> list[tuple[str, str]]:
    if not name:
        return [("metadata.name", "Required value: name or generateName is required")]
    shape, what = SUBDOMAIN, "a lowercase RFC 1123 subdomain"
    if resource.kind == "Namespace":
        shape, what = LABEL_1123, "a lowercase RFC 1123 label"
    elif resource.kind == "Service":
        shape, what = LABEL_1035, "a DNS-1035 label"
    elif resource.group == "rbac.authorization.k8s.io":
        shape, what = re.compile(r"[^/%]+"), "a path segment name"
    if shape.fullmatch(name) and len(name) <= 253:
        return []
    return [("metadata.name", f'Invalid value: "{name}": {what} must consist of its characters')]


def _labels(meta: Object) -> list[tuple[str, str]]:
    causes = []
    for key, value in (meta.get("labels") or {}).items():
        prefix, slash, name = key.rpartition("/")
        good = QUALIFIED.fullmatch(name) and (
            not slash or (SUBDOMAIN.fullmatch(prefix) and len(prefix) < 254)
        )
        if not good:
            causes.append(("metadata.labels", f'Invalid value: "{key}": name part must consist of ...'))
        if not isinstance(value, str):
            raise status.bad_request("unrecognized type: string")
        if not VALUE.fullmatch(value):
            causes.append(("metadata.labels", f'Invalid value: "{value}": a valid label must be ...'))
    for value in (meta.get("annotations") or {}).values():
        if not isinstance(value, str):
            raise status.bad_request("unrecognized type: string")
    return causes


def _data(resource: Resource, obj: Object) -> list[tuple[str, str]]:
    if resource.kind == "Secret":
        obj.setdefault("type", "Opaque")
        text = obj.pop("stringData", None) or {}
        data = {
            **(obj.get("data") or {}),
            **{k: base64.b64encode(v.encode()).decode() for k, v in text.items()},
        }
        if data:
            obj["data"] = data
        for value in data.values():
            try:
                base64.b64decode(value, validate=True)
            except ValueError:
                raise status.bad_request("illegal base64 data") from None
    total = 0
    for part in ("data", "binaryData"):
        for key, value in (obj.get(part) or {}).items():
            if not re.fullmatch(r"[-._a-zA-Z0-9]{1,253}", key):
                return [(f"{part}[{key}]", f'Invalid value: "{key}": a valid config key must consist of ...')]
            total += len(value.encode())
    return [("", "Too long: may not be more than 1048576 bytes")] if total > MAX_DATA else []


def _pod(obj: Object) -> list[tuple[str, str]]:
    spec = obj.get("spec") or {}
    if not spec.get("containers"):
        return [("spec.containers", "Required value")]
    causes = []
    for at, container in enumerate(spec["containers"]):
        if not container.get("image"):
            causes.append((f"spec.containers[{at}].image", "Required value"))
        resources = container.get("resources") or {}
        for name, amount in (resources.get("limits") or {}).items():
            resources.setdefault("requests", {}).setdefault(name, amount)
    spec.setdefault("restartPolicy", "Always")
    spec.setdefault("terminationGracePeriodSeconds", 30)
    spec.setdefault("schedulerName", "default-scheduler")
    return causes


def _schema(schema: Object, obj: Object) -> list[tuple[str, str]]:
    checked = {key: value for key, value in obj.items() if key != "metadata"}
    found = []
    for error in _validator(schema).iter_errors(checked):
        path = ".".join(str(part) for part in error.absolute_path) or "<nil>"
        found.append((path, error.message[:300]))
    return found


_VALIDATORS: dict[int, Any] = {}


def _validator(schema: Object) -> Any:
    key = id(schema)  # schemas live as long as the tests
    if key not in _VALIDATORS:
        _VALIDATORS[key] = jsonschema.Draft4Validator(schema)
    return _VALIDATORS[key]


def _pruned(schema: Object, value: Any) -> Any:
    """Drop fields that a structural schema does not know, and fill in its defaults."""
    if schema.get("x-kubernetes-preserve-unknown-fields") and "properties" not in schema:
        return value
    if isinstance(value, dict):
        properties, more = schema.get("properties"), schema.get("additionalProperties")
        if properties is None and more is None:
            return value
        kept = {}
        for key, inner in value.items():
            if properties and key in properties:
                if inner is not None or properties[key].get("nullable"):
                    kept[key] = _pruned(properties[key], inner)
            elif isinstance(more, dict):
                kept[key] = _pruned(more, inner)
            elif more or schema.get("x-kubernetes-preserve-unknown-fields"):
                kept[key] = inner
        for key, inner in (properties or {}).items():
            if "default" in inner and key not in kept:
                kept[key] = copy.deepcopy(inner["default"])
        return kept
    if isinstance(value, list) and isinstance(schema.get("items"), dict):
        return [_pruned(schema["items"], inner) for inner in value]
    return value
