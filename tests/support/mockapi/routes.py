"""From a path to what is done: resources and their subresources, discovery, reviews."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

from tests.support.mockapi import discovery, reads, reviews, status, writes
from tests.support.mockapi.answers import Answer
from tests.support.mockapi.kinds import Resource

if TYPE_CHECKING:
    from tests.support.mockapi.server import MockApi

PATH = re.compile(
    r"/(?:api/(?P<core>v1)|apis/(?P<group>[^/]+)/(?P<version>[^/]+))"
    r"(?:/namespaces/(?P<namespace>[^/]+)(?=/[^/]+))?"
    r"/(?P<plural>[^/]+)(?:/(?P<name>[^/]+)(?:/(?P<sub>[^/]+))?)?"
)
NAMESPACE = re.compile(r"/api/v1/namespaces(?:/(?P<name>[^/]+)(?:/(?P<sub>status|finalize))?)?")
VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete", "GET": "get"}


@dataclass
class Request:
    """One request, taken apart."""

    api: "MockApi"
    method: str
    path: str
    query: dict[str, str]
    body: bytes
    content_type: str
    accept: str

    @property
    def dry(self) -> bool:
        return self.query.get("dryRun") == "All"

    @property
    def manager(self) -> str:
        return self.query.get("fieldManager", "unknown")

    def json(self) -> Any:
        """Return the body; YAML is read too, JSON is a part of it."""
        try:
            return json.loads(self.body or b"{}") if "yaml" not in self.content_type else _yaml(self.body)
        except (ValueError, yaml.YAMLError):
            raise status.bad_request("the object provided is unrecognized") from None


def answer(request: Request) -> Answer:
    """Do what a request asks for; raises Failure."""
    found = discovery.answer(request.api, request.path)
    if found is not None:
        return _json(found)
    match = NAMESPACE.fullmatch(request.path) or PATH.fullmatch(request.path)
    if match is None:
        raise status.Failure(404, "NotFound", "the server could not find the requested resource")
    parts = {"plural": "namespaces", "core": "v1", **match.groupdict()}
    group, version = parts.get("group") or "", parts.get("version") or "v1"
    review = reviews.answer(request, group, parts["plural"])
    if review is not None:
        return _json(review, 201)
    resource = next(
        (
            r
            for r in request.api.resources
            if (r.group, r.version, r.plural) == (group, version, parts["plural"])
        ),
        None,
    )
    if resource is None:
        return Answer(b"404 page not found\n", 404, "text/plain; charset=utf-8")
    _authorise(request, resource, parts.get("sub") or "")
    where, name, sub = parts.get("namespace") or "", parts.get("name") or "", parts.get("sub") or ""
    with request.api.objects.changed:
        return _act(request, resource, where, name, sub)


def _authorise(request: Request, resource: Resource, sub: str) -> None:
    verb = VERBS[request.method]
    name = f"{resource.plural}/{sub}" if sub else resource.plural
    if {(verb, name), ("*", name), (verb, "*")} & request.api.denied:
        why = f'User "berth" cannot {verb} resource "{name}" in API group "{resource.group}"'
        raise status.forbidden(resource, "", why)


def _act(request: Request, resource: Resource, where: str, name: str, sub: str) -> Answer:
    writer = request.api.writer
    if sub and sub not in ("status", "finalize"):
        return _subresource(request, resource, where, name, sub)
    if request.method == "GET":
        if name:
            return _json(reads.get(request.api, resource, where, name))
        if request.query.get("watch") in ("true", "1"):
            return Answer(stream=reads.watch(request.api, resource, where, request.query))
        return _json(reads.listing(request.api, resource, where, request.query, request.accept))
    if resource.namespaced and not where:
        raise status.Failure(
            405, "MethodNotAllowed", "the server does not allow this method on the requested resource"
        )
    given = request.json()
    if request.method == "POST" and not name:
        return _json(writer.create(resource, where, given, request.manager, dry=request.dry), 201)
    if request.method == "DELETE":
        if not name:
            raise status.lacking("deletion of collections")
        options = {
            **given,
            **({"propagationPolicy": p} if (p := request.query.get("propagationPolicy")) else {}),
        }
        return _json(writer.delete(resource, where, name, options, dry=request.dry))
    if request.method == "PUT" and name:
        return _json(writer.update(resource, where, name, given, request.manager, sub, dry=request.dry))
    if request.method == "PATCH" and name:
        return _patch(request, resource, where, name, sub, given)
    raise status.Failure(
        405, "MethodNotAllowed", "the server does not allow this method on the requested resource"
    )


def _patch(request: Request, resource: Resource, where: str, name: str, sub: str, given: Any) -> Answer:
    writer, kind = request.api.writer, request.content_type.partition(";")[0]
    if kind != writes.APPLY:
        return _json(writer.patch(resource, where, name, given, kind, request.manager, sub, dry=request.dry))
    if sub:
        raise status.lacking("apply on subresources")
    if "fieldManager" not in request.query:
        raise status.bad_request("PatchOptions.meta.k8s.io is invalid: fieldManager: Required value")
    force = request.query.get("force") == "true"
    code, obj = writer.apply(resource, where, name, given, request.manager, force=force, dry=request.dry)
    return _json(obj, code)


def _subresource(request: Request, resource: Resource, where: str, name: str, sub: str) -> Answer:
    api, key = request.api, (request.method, resource.kind, sub)
    actions: dict[tuple[str, str, str], Callable[[], Answer]] = {
        ("GET", "Pod", "log"): lambda: reads.log(api, resource, where, name, request.query),
        ("POST", "Pod", "binding"): lambda: _bind(request, resource, where, name),
        ("POST", "ServiceAccount", "token"): lambda: _json(
            reviews.token(request, resource, where, name), 201
        ),
    }
    if key not in actions:
        raise status.lacking(f"{request.method} on {resource.plural}/{sub}")
    return actions[key]()


def _bind(request: Request, resource: Resource, where: str, name: str) -> Answer:
    request.api.writer.bind(resource, where, name, request.json()["target"]["name"])
    return _json(
        {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}, 201
    )


def _yaml(body: bytes) -> Any:
    return json.loads(body) if body[:1] == b"{" else yaml.safe_load(body)


def _json(obj: Any, code: int = 200) -> Answer:
    return Answer(json.dumps(obj).encode(), code)
