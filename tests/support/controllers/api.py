"""Requests to an API server as its controllers make them; not the client under test."""

import json
import ssl
from typing import Any

import urllib3

Object = dict[str, Any]
MERGE = "application/merge-patch+json"
GROUPS = {
    "pytorchjobs": "/apis/kubeflow.org/v1",
    "networkpolicies": "/apis/networking.k8s.io/v1",
    "roles": "/apis/rbac.authorization.k8s.io/v1",
    "rolebindings": "/apis/rbac.authorization.k8s.io/v1",
}
INSIDE = (
    *(
        "pytorchjobs",
        "pods",
        "services",
        "configmaps",
        "secrets",
        "serviceaccounts",
        "persistentvolumeclaims",
    ),
    *("resourcequotas", "limitranges", "networkpolicies", "rolebindings", "roles"),
)


class Refused(Exception):
    """An answer of 400 and above."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(f"{code} {text}")
        self.code, self.text = code, text


class Api:
    """JSON in, JSON out; what was not there is None."""

    def __init__(self, url: str, token: str = "", context: ssl.SSLContext | None = None) -> None:
        self.url, self._headers = url, {"Authorization": f"Bearer {token}"} if token else {}
        self._pool = urllib3.PoolManager(retries=False, **({"ssl_context": context} if context else {}))

    def call(self, method: str, path: str, body: Any = None, kind: str = "application/json") -> Object | None:
        data = None if body is None else json.dumps(body)
        headers = {**self._headers, "Content-Type": kind}
        answer = self._pool.request(method, self.url + path, body=data, headers=headers, timeout=20)
        if answer.status in (404, 409):
            return None
        if answer.status >= 400:
            raise Refused(answer.status, answer.data.decode("utf-8", "replace"))
        found: Object = json.loads(answer.data) if answer.data else {}
        return found

    def list(self, plural: str, namespace: str = "") -> list[Object]:
        found = self.call("GET", path(plural, namespace)) or {}
        return list(found.get("items") or ())

    def patch(self, where: str, body: Object) -> Object | None:
        return self.call("PATCH", where, body, MERGE)

    def remove(self, where: str, grace: int | None = None) -> None:
        options: Object = {"propagationPolicy": "Background"}
        if grace is not None:
            options["gracePeriodSeconds"] = grace
        self.call("DELETE", where, options)

    def close(self) -> None:
        self._pool.clear()


def path(plural: str, namespace: str = "", name: str = "") -> str:
    root = GROUPS.get(plural, "/api/v1")
    inside = f"/namespaces/{namespace}" if namespace else ""
    return f"{root}{inside}/{plural}" + (f"/{name}" if name else "")


def of(plural: str, obj: Object) -> str:
    """Return the path of an object."""
    return path(plural, obj["metadata"].get("namespace", ""), obj["metadata"]["name"])
