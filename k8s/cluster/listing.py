"""Lists in pages, begun anew when the snapshot of a page has expired."""

from k8s import errors
from k8s.cluster import resources
from k8s.cluster.client import SAFE, Client
from k8s.types import Manifest

PAGE = 500
RESTARTS = 3
NAMES_ONLY = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"


def all_items(client: Client, kind: str, namespace: str | None = None, selector: str = "") -> list[Manifest]:
    """Return all objects of a kind, in one namespace or everywhere."""
    return pages(client, resources.collection(kind, namespace), selector=selector)[0]


def pages(
    client: Client, path: str, *, selector: str = "", accept: str = "application/json"
) -> tuple[list[Manifest], str]:
    """Return what is at a path and the resource version of that list."""
    for attempt in range(1, RESTARTS + 1):
        try:
            return _pages(client, path, selector, accept)
        except errors.Gone:
            if attempt == RESTARTS:
                raise errors.Unavailable("The site drops lists faster than they can be read.") from None
    raise AssertionError


def _pages(client: Client, path: str, selector: str, accept: str) -> tuple[list[Manifest], str]:
    found: list[Manifest] = []
    token: str | None = None
    while True:
        query = {"limit": PAGE, "continue": token, "labelSelector": selector or None}
        body = client.call("GET", path, query=query, accept=accept, again=SAFE).body
        found += body.get("items") or ()
        meta = body.get("metadata") or {}
        token = meta.get("continue")
        if not token:
            return found, str(meta.get("resourceVersion", ""))
