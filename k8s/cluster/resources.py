"""Paths of the kinds that Berth works with: pure."""

from urllib.parse import quote

from k8s import admission

_PLURALS = {"NetworkPolicy": "networkpolicies"}
JOBS = "/apis/kubeflow.org/v1/pytorchjobs"


def base(api_version: str) -> str:
    """Return the root of a group and version."""
    return f"/api/{api_version}" if "/" not in api_version else f"/apis/{api_version}"


def plural(kind: str) -> str:
    """Return the name of a kind in paths."""
    return _PLURALS.get(kind) or f"{kind.lower()}s"


def collection(kind: str, namespace: str | None = None) -> str:
    """Return the path of all objects of a kind, in one namespace or everywhere."""
    in_namespace = admission.scoped(kind)
    root = base(admission.KINDS[kind][0])
    inside = f"/namespaces/{quote(namespace, safe='')}" if namespace and in_namespace else ""
    return f"{root}{inside}/{plural(kind)}"


def item(kind: str, namespace: str, name: str) -> str:
    """Return the path of one object."""
    return f"{collection(kind, namespace)}/{quote(name, safe='')}"
