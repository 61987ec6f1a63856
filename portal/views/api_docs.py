"""The readable page of the REST API, made from the schema itself; no script from elsewhere."""

from dataclasses import dataclass, field
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from drf_spectacular.generators import SchemaGenerator

from core.rest import problems

METHODS = ("get", "post", "patch", "put", "delete")


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a body, with the fields inside it."""

    name: str
    kind: str
    required: bool
    text: str
    inner: list["Field"] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Operation:
    """One call."""

    anchor: str
    method: str
    path: str
    text: str
    parameters: list[Field]
    request: list[Field]
    answers: list[tuple[str, list[Field]]]


@require_safe
def show(request: HttpRequest) -> HttpResponse:
    """Show every operation, grouped by its tag."""
    generator: Any = SchemaGenerator
    schema: dict[str, Any] = generator(patterns=None).get_schema(request=None, public=True)
    groups: dict[str, list[Operation]] = {}
    for path, item in schema["paths"].items():
        for method in METHODS:
            if method in item:
                call = item[method]
                tag = (call.get("tags") or ["API"])[0]
                groups.setdefault(tag.capitalize(), []).append(_operation(schema, path, method, call))
    shown = {"groups": sorted(groups.items()), "codes": problems.CODES}
    return render(request, "portal/api_docs.html", shown)


def _operation(schema: dict[str, Any], path: str, method: str, call: dict[str, Any]) -> Operation:
    parameters = [
        Field(
            name=given["name"],
            kind=f"{given['in']}, {_kind(schema, given.get('schema', {}))}",
            required=bool(given.get("required")),
            text=given.get("description", ""),
        )
        for given in call.get("parameters", [])
    ]
    answers = [
        (status, _body(schema, answer)) for status, answer in call["responses"].items() if status < "300"
    ]
    return Operation(
        anchor=call["operationId"],
        method=method.upper(),
        path=path,
        text=call.get("summary") or call.get("description", ""),
        parameters=parameters,
        request=_body(schema, call.get("requestBody", {})),
        answers=answers,
    )


def _body(schema: dict[str, Any], body: dict[str, Any]) -> list[Field]:
    for content in body.get("content", {}).values():
        return _fields(schema, content.get("schema", {}), 4)
    return []


def _resolve(schema: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in part:
        found: dict[str, Any] = schema["components"]["schemas"][part["$ref"].rsplit("/", 1)[-1]]
        return found
    for word in ("allOf", "oneOf", "anyOf"):
        for choice in part.get(word, []):
            if choice.get("type") != "null":
                return _resolve(schema, choice)
    return part


def _fields(schema: dict[str, Any], part: dict[str, Any], depth: int) -> list[Field]:
    whole = _resolve(schema, part)
    if whole.get("type") == "array":
        return _fields(schema, whole.get("items", {}), depth)
    if depth == 0:
        return []
    needed = whole.get("required", [])
    return [
        Field(
            name=name,
            kind=_kind(schema, inner),
            required=name in needed,
            text=inner.get("description", ""),
            inner=_fields(schema, inner, depth - 1),
        )
        for name, inner in whole.get("properties", {}).items()
    ]


def _kind(schema: dict[str, Any], part: dict[str, Any]) -> str:
    whole = _resolve(schema, part)
    kinds = whole.get("type", "any")
    words = [kind for kind in (kinds if isinstance(kinds, list) else [kinds]) if kind != "null"]
    kind = " | ".join(words)
    if whole.get("enum"):
        kind = " | ".join(str(value) for value in whole["enum"] if value not in {None, ""})
    elif kind == "array":
        kind = f"[{_kind(schema, whole.get('items', {}))}]"
    elif "format" in whole:
        kind = f"{kind} ({whole['format']})"
    nullable = isinstance(kinds, list) and "null" in kinds
    return f"{kind} | null" if nullable or {"type": "null"} in part.get("oneOf", []) else kind
