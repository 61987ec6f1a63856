"""Who owns a node: label and taint changed together, on the version that was looked at."""

from k8s import errors
from k8s.cluster import resources
from k8s.cluster.client import MERGE, SAFE, Client
from k8s.labels import CLUSTER, FIELD_MANAGER
from k8s.types import Manifest

TRIES = 5


def set_owner(client: Client, node: str, cluster: str | None, *, previous: str | None) -> None:
    """Do what `Port.set_node_owner` says; a node that changes meanwhile is looked at again."""
    path = resources.item("Node", "", node)
    for tried in range(1, TRIES + 1):
        found = client.call("GET", path, again=SAFE).body
        change = patch(found, cluster, previous=previous)
        if change is None:
            return
        try:
            query = {"fieldManager": FIELD_MANAGER}
            client.call("PATCH", path, query=query, body=change, content_type=MERGE, again=SAFE)
        except errors.Conflict:
            if tried == TRIES:
                raise
        else:
            return


def patch(node: Manifest, cluster: str | None, *, previous: str | None) -> Manifest | None:
    """Return the merge patch that makes the node the cluster's, None if it is; raises Conflict. Pure."""
    meta, spec = node["metadata"], node.get("spec") or {}
    owner = (meta.get("labels") or {}).get(CLUSTER)
    free_anyway = cluster is None and previous is None
    if owner not in (None, cluster, previous) and not free_anyway:
        raise errors.Conflict(f"Node {meta['name']} belongs to {owner}.")
    before = spec.get("taints") or []
    taints = [taint for taint in before if taint["key"] != CLUSTER]
    if cluster is not None:
        taints.append({"key": CLUSTER, "value": cluster, "effect": "NoSchedule"})
    if owner == cluster and _same(before, taints):
        return None
    return {
        "metadata": {"resourceVersion": meta["resourceVersion"], "labels": {CLUSTER: cluster}},
        "spec": {"taints": taints or None},
    }


def _same(before: list[Manifest], after: list[Manifest]) -> bool:
    def key(taint: Manifest) -> tuple[str, ...]:
        return (taint["key"], taint.get("value", ""), taint["effect"])

    return sorted(map(key, before)) == sorted(map(key, after))
