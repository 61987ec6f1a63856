"""What a server says about itself."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.support.mockapi.server import MockApi

ALL = ["create", "delete", "get", "list", "patch", "update", "watch"]


def answer(api: "MockApi", path: str) -> Any:
    """Return what stands at a path of discovery, None for any other."""
    parts = path.strip("/").split("/")
    groups = {r.group for r in api.resources if r.group} | {"authorization.k8s.io", "authentication.k8s.io"}
    if path == "/version":
        major, minor = api.version.lstrip("v").split(".")[:2]
        return {"major": major, "minor": minor, "gitVersion": api.version, "platform": "linux/amd64"}
    if path in ("/healthz", "/livez", "/readyz"):
        return "ok"
    if path == "/api":
        return {"kind": "APIVersions", "versions": ["v1"]}
    if path == "/apis":
        return {
            "kind": "APIGroupList",
            "apiVersion": "v1",
            "groups": [_group(api, g) for g in sorted(groups)],
        }
    if parts[0] == "apis" and len(parts) == 2 and parts[1] in groups:
        return {"kind": "APIGroup", "apiVersion": "v1", **_group(api, parts[1])}
    if (parts[0] == "apis" and len(parts) == 3) or parts == ["api", "v1"]:
        version = "/".join(parts[1:])
        found = [r for r in api.resources if r.api_version == version]
        if found:
            return {"kind": "APIResourceList", "groupVersion": version, "resources": [_one(r) for r in found]}
    return None


def _group(api: "MockApi", name: str) -> dict[str, Any]:
    versions = sorted({r.version for r in api.resources if r.group == name}) or ["v1"]
    listed = [{"groupVersion": f"{name}/{v}", "version": v} for v in versions]
    return {"name": name, "versions": listed, "preferredVersion": listed[0]}


def _one(resource: Any) -> dict[str, Any]:
    return {"name": resource.plural, "namespaced": resource.namespaced, "kind": resource.kind, "verbs": ALL}
