"""Deletion of exactly the object that was seen, with the grace that its pods are left."""

import contextlib

from k8s import errors
from k8s.cluster import listing, resources
from k8s.cluster.client import SAFE, Client
from k8s.labels import OPERATOR_JOB
from k8s.types import Manifest

TRIES = 5
DEFAULT_GRACE = 30


def delete(client: Client, kind: str, namespace: str, name: str, *, grace_seconds: int | None) -> bool:
    """Do what `Port.delete` says; the uid keeps a repeated request from hitting a successor."""
    path = resources.item(kind, namespace, name)
    if kind == "Node":
        raise errors.Refused("Objects of kind Node belong to the site.", reason="forbidden")
    try:
        found = client.call("GET", path, again=SAFE).body
    except (errors.NotFound, errors.UnknownKind):
        return False
    body: Manifest = {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": {"uid": found["metadata"]["uid"]},
        "propagationPolicy": "Foreground" if kind == "PyTorchJob" else "Background",
    }
    if kind == "Pod" and grace_seconds is not None:
        body["gracePeriodSeconds"] = _grace(found, grace_seconds)
    if not _ask(client, path, body):
        return True  # it went by itself, or another one has taken its name
    if grace_seconds is not None and kind in ("PyTorchJob", "Namespace"):
        selector = f"{OPERATOR_JOB}={name}" if kind == "PyTorchJob" else ""
        _shorten(client, name if kind == "Namespace" else namespace, selector, grace_seconds)
    return True


def _ask(client: Client, path: str, body: Manifest) -> bool:
    for tried in range(1, TRIES + 1):
        try:
            client.call("DELETE", path, body=body, again=SAFE)
        except errors.NotFound:
            return False
        except errors.Conflict as error:
            if "UID in precondition" in str(error):
                return False
            if tried == TRIES:
                raise
        else:
            return True
    return False


def _shorten(client: Client, namespace: str, selector: str, grace_seconds: int) -> None:
    """Give pods that are to go anyway less time; their job is marked, so nobody makes new ones."""
    for pod in listing.all_items(client, "Pod", namespace, selector):
        meta = pod["metadata"]
        before = meta.get("deletionGracePeriodSeconds")
        grace = _grace(pod, grace_seconds)
        if before is not None and before <= grace:
            continue
        body: Manifest = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": {"uid": meta["uid"]},
            "gracePeriodSeconds": grace,
        }
        with contextlib.suppress(errors.NotFound, errors.Conflict):
            client.call("DELETE", resources.item("Pod", namespace, meta["name"]), body=body, again=SAFE)


def _grace(pod: Manifest, wanted: int) -> int:
    own = (pod.get("spec") or {}).get("terminationGracePeriodSeconds", DEFAULT_GRACE)
    return max(0, min(int(own), wanted))
