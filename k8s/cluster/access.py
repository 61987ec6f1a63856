"""What is needed to reach an API server, read from a kubeconfig with inline data or from inside a pod.

Whether a kubeconfig is acceptable is decided before; here only what we understand is taken from it.
"""

import base64
import binascii
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


class Unusable(ValueError):
    """A kubeconfig, or this pod, does not say how to reach an API server."""


@dataclass(frozen=True, slots=True)
class Access:
    """An address and credentials; PEM as text. `token_file` is read again and again: it is rotated."""

    server: str
    ca: str | None = field(default=None, repr=False)
    server_name: str | None = None
    token: str | None = field(default=None, repr=False)
    token_file: Path | None = None
    certificate: str | None = field(default=None, repr=False)
    key: str | None = field(default=None, repr=False)


def from_kubeconfig(config: Mapping[str, Any] | str) -> Access:
    """Read the current context of a kubeconfig (mapping or YAML); raises Unusable with a sentence."""
    loaded: Any = _load(config) if isinstance(config, str) else config
    if not isinstance(loaded, Mapping):
        raise Unusable("The kubeconfig is empty or no mapping.")
    current = loaded.get("current-context")
    context = _named(loaded, "contexts", "context", current)
    cluster = _named(loaded, "clusters", "cluster", context.get("cluster"))
    user = _named(loaded, "users", "user", context.get("user"))
    server = cluster.get("server")
    if not isinstance(server, str) or not server.startswith(("https://", "http://")):
        raise Unusable("The kubeconfig names no server.")
    access = Access(
        server=server.rstrip("/"),
        ca=_pem(cluster, "certificate-authority-data"),
        server_name=cluster.get("tls-server-name"),
        token=user.get("token"),
        certificate=_pem(user, "client-certificate-data"),
        key=_pem(user, "client-key-data"),
    )
    if (access.certificate is None) != (access.key is None):
        raise Unusable("The kubeconfig has a client certificate without its key, or a key without it.")
    return access


def in_cluster(folder: Path = ACCOUNT, environ: Mapping[str, str] = os.environ) -> Access:
    """Use the service account of the pod that this process runs in; raises Unusable outside of one."""
    host, port = environ.get("KUBERNETES_SERVICE_HOST"), environ.get("KUBERNETES_SERVICE_PORT")
    if not host or not port:
        raise Unusable("This process does not run in a pod of a Kubernetes cluster.")
    try:
        ca = (folder / "ca.crt").read_text()
        (folder / "token").read_text()
    except OSError as error:
        raise Unusable("The service account of this pod is not mounted.") from error
    where = f"[{host}]" if ":" in host else host
    return Access(server=f"https://{where}:{port}", ca=ca, token_file=folder / "token")


def _load(text: str) -> Any:
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise Unusable("The kubeconfig is no YAML.") from error


def _named(config: Mapping[str, Any], group: str, kind: str, name: object) -> Mapping[str, Any]:
    entries = config.get(group) or []
    if not isinstance(entries, list):
        raise Unusable(f"The kubeconfig has no list of {group}.")
    for entry in entries:
        if isinstance(entry, Mapping) and entry.get("name") == name:
            found = entry.get(kind) or {}
            if isinstance(found, Mapping):
                return found
    raise Unusable(f"The kubeconfig has no {kind} named {name!r}.")


def _pem(entry: Mapping[str, Any], key: str) -> str | None:
    text = entry.get(key)
    if not text:
        return None
    try:
        return base64.b64decode(text, validate=True).decode("ascii")
    except (binascii.Error, ValueError, TypeError) as error:
        raise Unusable(f"{key} of the kubeconfig is no base64 of PEM.") from error
