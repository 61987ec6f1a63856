"""What staff must know about a site before it is used: version, operator, rights, GPUs, volumes."""

from collections.abc import Iterable
from datetime import UTC, datetime

from k8s import convert, errors
from k8s.cluster import listing
from k8s.cluster.client import SAFE, Client
from k8s.types import IssuedToken, Manifest, Permission, StorageClass

DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"


def version(client: Client) -> str:
    """Return the version of the API server, like `v1.33.2`."""
    return str(client.call("GET", "/version", again=SAFE).body.get("gitVersion", "unknown"))


def served(client: Client, group: str, resource: str) -> tuple[str, ...]:
    """Return the versions of a group that serve a resource, the preferred one first; () without it."""
    try:
        found = client.call("GET", f"/apis/{group}", again=SAFE).body
    except (errors.NotFound, errors.UnknownKind):
        return ()
    preferred = (found.get("preferredVersion") or {}).get("version")
    names = [entry["version"] for entry in found.get("versions") or ()]
    names.sort(key=lambda name: name != preferred)
    return tuple(name for name in names if _serves(client, f"/apis/{group}/{name}", resource))


def _serves(client: Client, path: str, resource: str) -> bool:
    found = client.call("GET", path, again=SAFE).body.get("resources") or ()
    return any(entry.get("name") == resource for entry in found)


def can(client: Client, permissions: Iterable[Permission]) -> dict[Permission, bool]:
    """Return which of these our credentials may do, as the site's authoriser says."""
    return {one: _may(client, one) for one in permissions}


def _may(client: Client, one: Permission) -> bool:
    attributes = {"verb": one.verb, "group": one.group, "resource": one.resource}
    attributes |= {"namespace": one.namespace, "subresource": one.subresource}
    review: Manifest = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": {key: text for key, text in attributes.items() if text}},
    }
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    answer = client.call("POST", path, body=review, again=SAFE).body  # a question: nothing is stored
    return bool((answer.get("status") or {}).get("allowed"))


def extended_resources(client: Client) -> dict[str, int]:
    """Return how many of each device of a vendor all nodes offer, by resource name."""
    totals: dict[str, int] = {}
    for node in listing.all_items(client, "Node"):
        for name, amount in ((node.get("status") or {}).get("allocatable") or {}).items():
            own = "/" in name and not name.partition("/")[0].endswith("kubernetes.io")
            if own and str(amount).isdecimal():
                totals[name] = totals.get(name, 0) + int(amount)
    return dict(sorted(totals.items()))


def storage_classes(client: Client) -> list[StorageClass]:
    """Return the storage classes by name."""
    found, _ = listing.pages(client, "/apis/storage.k8s.io/v1/storageclasses")
    return sorted(
        (
            StorageClass(
                name=one["metadata"]["name"],
                provisioner=one.get("provisioner", ""),
                default=(one["metadata"].get("annotations") or {}).get(DEFAULT_CLASS) == "true",
            )
            for one in found
        ),
        key=lambda one: one.name,
    )


def token_request(client: Client, namespace: str, account: str, seconds: int) -> IssuedToken:
    """Have the site issue a token of a service account; raises NotFound without the account."""
    body: Manifest = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": {"expirationSeconds": seconds},
    }
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
    status = client.call("POST", path, body=body).body["status"]
    expires = convert.parse_time(status["expirationTimestamp"])
    return IssuedToken(status["token"], expires or datetime.now(UTC))
