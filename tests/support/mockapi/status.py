"""Failures in the words of a real API server."""

from typing import Any

from tests.support.mockapi.kinds import Resource


class Failure(Exception):
    """Becomes a `Status` object and its HTTP code."""

    def __init__(self, code: int, reason: str, message: str, **details: Any) -> None:
        super().__init__(message)
        self.code, self.headers = code, {}
        self.body = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": message,
            "reason": reason,
            "details": details,
            "code": code,
        }


def not_found(resource: Resource, name: str) -> Failure:
    text = f'{resource.qualified} "{name}" not found'
    return Failure(404, "NotFound", text, name=name, kind=resource.plural, group=resource.group)


def exists(resource: Resource, name: str) -> Failure:
    text = f'{resource.qualified} "{name}" already exists'
    return Failure(409, "AlreadyExists", text, name=name, kind=resource.plural, group=resource.group)


def modified(resource: Resource, name: str, why: str = "") -> Failure:
    why = why or (
        "the object has been modified; please apply your changes to the latest version and try again"
    )
    text = f'Operation cannot be fulfilled on {resource.qualified} "{name}": {why}'
    return Failure(409, "Conflict", text, name=name, kind=resource.plural, group=resource.group)


def invalid(resource: Resource, name: str, causes: list[tuple[str, str]]) -> Failure:
    kind = f"{resource.kind}.{resource.group}" if resource.group else resource.kind
    said = [f"{field}: {message}" for field, message in causes]
    text = said[0] if len(said) == 1 else f"[{', '.join(said)}]"
    listed = [{"reason": "FieldValueInvalid", "field": f, "message": m} for f, m in causes]
    return Failure(
        422,
        "Invalid",
        f'{kind} "{name}" is invalid: {text}',
        name=name,
        kind=resource.kind,
        group=resource.group,
        causes=listed,
    )


def forbidden(resource: Resource, name: str, why: str, **details: Any) -> Failure:
    text = f'{resource.qualified} "{name}" is forbidden: {why}'
    return Failure(403, "Forbidden", text, name=name, kind=resource.plural, group=resource.group, **details)


def bad_request(message: str) -> Failure:
    return Failure(400, "BadRequest", message)


def expired(message: str) -> Failure:
    return Failure(410, "Expired", message)


def lacking(what: str) -> Failure:
    return Failure(501, "NotImplemented", f"The mock API server lacks {what}.")
