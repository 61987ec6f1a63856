"""What Berth's own account may do at a site: one table for the check of a site and for its roles."""

from k8s.types import Permission

_READ = ("get", "list", "watch")
_KEEP = ("get", "list", "create", "patch", "delete")  # server-side apply is a patch that may create


def _grants() -> tuple[Permission, ...]:
    table: list[tuple[str, str, tuple[str, ...]]] = [
        ("", "namespaces", _KEEP),
        ("", "nodes", (*_READ, "patch")),
        ("", "pods", (*_READ, "delete")),  # the grace of pods that are ending is shortened
        ("", "services", ("list",)),  # the operator makes them; gone is gone when none is left
        ("", "events", ("list",)),
        ("", "configmaps", _KEEP),
        ("", "secrets", _KEEP),
        ("", "persistentvolumeclaims", _KEEP),
        ("", "resourcequotas", _KEEP),
        ("", "limitranges", _KEEP),
        ("", "serviceaccounts", _KEEP),
        ("networking.k8s.io", "networkpolicies", _KEEP),
        ("rbac.authorization.k8s.io", "roles", _KEEP),
        ("rbac.authorization.k8s.io", "rolebindings", _KEEP),
        ("kubeflow.org", "pytorchjobs", (*_KEEP, "watch")),
        ("storage.k8s.io", "storageclasses", ("list",)),
    ]
    plain = [Permission(verb, resource, group) for group, resource, verbs in table for verb in verbs]
    inner = [
        Permission("get", "pods", subresource="log"),
        Permission("create", "serviceaccounts", subresource="token"),
    ]
    return (*plain, *inner)


NEEDED: tuple[Permission, ...] = _grants()


def words(one: Permission) -> str:
    """Return a right as people write it: `patch nodes`, `get pods/log`, `list pytorchjobs.kubeflow.org`."""
    what = f"{one.resource}.{one.group}" if one.group else one.resource
    return f"{one.verb} {what}/{one.subresource}" if one.subresource else f"{one.verb} {what}"
