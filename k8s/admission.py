"""Pure checks that an API server and the training operator's webhook would make before storing an object.

Both ports make them first: a webhook may be missing or ignored, and a refusal costs no request then.
"""

import base64
import binascii
import re
from typing import Any

from k8s.errors import Refused
from k8s.types import Manifest

CORE, NETWORK, RBAC = "v1", "networking.k8s.io/v1", "rbac.authorization.k8s.io/v1"
KINDS: dict[str, tuple[str, bool]] = {  # kind: (apiVersion, lives in a namespace)
    "Namespace": (CORE, False),
    "Node": (CORE, False),
    "ConfigMap": (CORE, True),
    "LimitRange": (CORE, True),
    "PersistentVolumeClaim": (CORE, True),
    "Pod": (CORE, True),
    "ResourceQuota": (CORE, True),
    "Secret": (CORE, True),
    "Service": (CORE, True),
    "ServiceAccount": (CORE, True),
    "NetworkPolicy": (NETWORK, True),
    "Role": (RBAC, True),
    "RoleBinding": (RBAC, True),
    "PyTorchJob": ("kubeflow.org/v1", True),
}
NOT_APPLIED = ("Node", "Pod")  # the site's own
KEPT = ("name", "namespace", "labels", "annotations", "ownerReferences")
MAX_DATA = 1024 * 1024

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_LABEL_1035 = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
_TAG_KEY = re.compile(
    r"([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
)
_TAG_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")


def scoped(kind: str) -> bool:
    """Say whether objects of a kind live in a namespace; refuse a kind that the site does not have."""
    if kind not in KINDS:
        raise Refused(f"The site has no objects of kind {kind}.")
    return KINDS[kind][1]


def admit(manifest: Manifest) -> Manifest:
    """Return the manifest as it will be stored, or raise Refused with the path of the bad field."""
    kind, meta = manifest.get("kind", ""), manifest.get("metadata") or {}
    in_namespace = scoped(kind)
    if kind in NOT_APPLIED:
        raise Refused(f"Objects of kind {kind} belong to the site.", reason="forbidden")
    _need(manifest.get("apiVersion") == KINDS[kind][0], "apiVersion", f"must be {KINDS[kind][0]}")
    name = meta.get("name")
    shape = {"Namespace": _LABEL, "PyTorchJob": _LABEL_1035}.get(kind, _SUBDOMAIN)
    _need(isinstance(name, str) and shape.fullmatch(name), "metadata.name", f"{name!r} is no valid name")
    namespace = meta.get("namespace")
    if in_namespace:
        valid = isinstance(namespace, str) and _LABEL.fullmatch(namespace)
        _need(valid, "metadata.namespace", f"{namespace!r} is no valid name")
    else:
        _need(not namespace, "metadata.namespace", "must be left out")
    for key, value in (meta.get("labels") or {}).items():
        _need(isinstance(key, str) and _TAG_KEY.fullmatch(key), f"metadata.labels[{key!r}]", "invalid key")
        valid = isinstance(value, str) and _TAG_VALUE.fullmatch(value)
        _need(valid, f"metadata.labels[{key!r}]", f"{value!r} is no valid value")
    for key, value in (meta.get("annotations") or {}).items():
        _need(isinstance(value, str), f"metadata.annotations[{key!r}]", "must be a string")
    kept = {key: meta[key] for key in KEPT if meta.get(key)}
    stored = {**manifest, "metadata": kept}
    stored.pop("status", None)
    if kind == "PyTorchJob":
        _check_job(manifest.get("spec") or {})
    elif kind == "ConfigMap":
        _check_data(stored)
    elif kind == "Secret":
        stored["data"] = _secret_data(stored)
        stored.pop("stringData", None)
        _check_data(stored)
    return stored


def _check_job(spec: Manifest) -> None:
    """The webhook's rules, kubeflow/trainer v1.9 pkg/webhooks/pytorch."""
    replicas = spec.get("pytorchReplicaSpecs")
    path = "spec.pytorchReplicaSpecs"
    _need(isinstance(replicas, dict) and replicas, path, "must be given")
    assert isinstance(replicas, dict)
    for kind, one in replicas.items():
        here = f"{path}[{kind}]"
        _need(kind in ("Master", "Worker"), here, "must be Master or Worker")
        count = one.get("replicas", None if kind == "Master" else 1)
        if kind == "Master":
            _need(count == 1, f"{here}.replicas", "must be 1")
        _need(isinstance(count, int) and count >= 1, f"{here}.replicas", "must be at least 1")
        pod = (one.get("template") or {}).get("spec") or {}
        containers = pod.get("containers") or []
        _need(containers, f"{here}.template.spec.containers", "must be given")
        for container in [*containers, *(pod.get("initContainers") or [])]:
            _need(container.get("image"), f"{here}.template.spec", "every container needs an image")
            _check_container(container, f"{here}.template.spec")
        main = [c for c in containers if c.get("name") == "pytorch"]
        _need(len(main) == 1, f"{here}.template.spec.containers", "one must be named pytorch")
    nproc = spec.get("nprocPerNode")
    known = nproc in (None, "auto", "cpu", "gpu") or (isinstance(nproc, str) and nproc.isdecimal())
    _need(known, "spec.nprocPerNode", "must be auto, cpu, gpu or digits, as a string")
    deadline = (spec.get("runPolicy") or {}).get("activeDeadlineSeconds")
    _need(
        deadline is None or (isinstance(deadline, int) and deadline > 0),
        "spec.runPolicy.activeDeadlineSeconds",
        "must be a positive whole number",
    )


def _check_container(container: Manifest, path: str) -> None:
    _need(isinstance(container.get("name"), str), f"{path}.name", "must be given")
    for entry in container.get("env") or []:
        _need(isinstance(entry.get("name"), str) and entry["name"], f"{path}.env.name", "must be given")
        text = entry.get("value", "")
        _need(text is None or isinstance(text, str), f"{path}.env[{entry['name']}]", "must be a string")
    for part in [*(container.get("command") or []), *(container.get("args") or [])]:
        _need(isinstance(part, str), f"{path}.command", "must be strings")
    for mount in container.get("volumeMounts") or []:
        given = all(isinstance(mount.get(key), str) for key in ("name", "mountPath"))
        _need(given, f"{path}.volumeMounts", "need a name and a mountPath")
    resources = container.get("resources") or {}
    for field in ("limits", "requests"):
        for name, amount in (resources.get(field) or {}).items():
            whole = "/" not in name or str(amount).isdecimal()
            _need(whole, f"{path}.resources.{field}[{name}]", "must be a whole number")


def _secret_data(stored: Manifest) -> dict[str, str]:
    data: dict[str, str] = dict(stored.get("data") or {})
    for key, value in data.items():
        try:
            base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError, TypeError):
            raise Refused(f"data[{key}]: must be base64.") from None
    for key, value in (stored.get("stringData") or {}).items():
        _need(isinstance(value, str), f"stringData[{key}]", "must be a string")
        data[key] = base64.b64encode(value.encode()).decode()
    return data


def _check_data(stored: Manifest) -> None:
    total = 0
    for field in ("data", "binaryData"):
        for key, value in (stored.get(field) or {}).items():
            _need(re.fullmatch(r"[-._a-zA-Z0-9]{1,253}", key), f"{field}[{key!r}]", "invalid key")
            _need(key not in (".", ".."), f"{field}[{key!r}]", "invalid key")
            _need(isinstance(value, str), f"{field}[{key}]", "must be a string")
            total += len(value.encode())
    _need(total <= MAX_DATA, "data", f"must be at most {MAX_DATA} bytes in total")


def _need(condition: Any, path: str, message: str) -> None:
    if not condition:
        raise Refused(f"{path}: {message}.")
