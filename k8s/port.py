"""The port: all that Berth asks of a Kubernetes site. Two implementations pass one set of contract tests."""

from collections.abc import Iterator, Mapping
from typing import Protocol

from k8s.types import (
    ApplyResult,
    LogChunk,
    Manifest,
    NodeInfo,
    PodInfo,
    PyTorchJobInfo,
    WatchEvent,
)


class Port(Protocol):
    """Every method may raise `errors.Unavailable`; none waits longer than its own timeout."""

    def version(self) -> str:
        """Return what answers there, for people to read; the cheapest proof that the site is up."""

    def apply(self, manifest: Manifest, *, dry_run: bool = False) -> ApplyResult:
        """Make the object be as the manifest says (server-side apply, field manager `berth`).

        Applying the same manifest again changes nothing. Raises NotFound without its namespace,
        Refused for an invalid or forbidden object, Conflict while one of that name is being deleted.
        """

    def get(self, kind: str, namespace: str, name: str) -> Manifest | None:
        """Return the object as it is (namespace "" for kinds without one), or None."""

    def delete(self, kind: str, namespace: str, name: str, *, grace_seconds: int | None = None) -> bool:
        """Ask for deletion; False when it is already gone.

        A PyTorchJob stays visible, marked as deleted, until its pods are gone (foreground), and so
        does a Namespace until all inside is gone. `grace_seconds` shortens the grace of the pods.
        """

    def list_objects(self, namespace: str) -> list[tuple[str, str]]:
        """Return (kind, name) of all that is left in a namespace, sorted; empty without the namespace.

        What the site itself puts into each namespace is left out.
        """

    def list_pytorchjobs(
        self, namespace: str | None = None, selector: Mapping[str, str] | None = None
    ) -> tuple[list[PyTorchJobInfo], str]:
        """Return jobs, of all namespaces by default, and the resource version to watch from."""

    def watch_pytorchjobs(self, resource_version: str, *, timeout: float) -> Iterator[WatchEvent]:
        """Yield what happened after a resource version in all namespaces, with bookmarks.

        Ends after about `timeout` seconds; raises Gone when the version is too old.
        """

    def list_pods(self, namespace: str, selector: Mapping[str, str] | None = None) -> list[PodInfo]:
        """Return pods of a namespace by name."""

    def read_log(self, namespace: str, pod: str, *, cursor: str | None, limit_bytes: int) -> LogChunk:
        """Return lines after the cursor (None: from the start), about `limit_bytes` of text at most.

        `eof` only when the pod has ended and all is read. Invalid UTF-8 is replaced, very long lines
        come in pieces, a line that is not finished yet is left for later. With the end comes the exit code,
        where it is still known; `gap` says that the site has thrown lines away before they were read.
        Raises NotFound without the pod.
        """

    def list_nodes(self) -> list[NodeInfo]:
        """Return the servers of the site by name."""

    def set_node_owner(self, node: str, cluster: str | None, *, previous: str | None = None) -> None:
        """Give a node to a cluster, or to nobody: label and `NoSchedule` taint `berth.dev/cluster`.

        Raises Conflict when another cluster than `previous` owns it; with cluster None and previous
        None it is freed whoever owns it. Raises NotFound without the node.
        """
