"""From a pod object to a folder that its shim can run: volumes, environment, commands, `plan.json`."""

import base64
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from k8s.embedded import isolation, paths, processes, rewrite, shim, wake
from k8s.embedded.isolation import PodUser
from k8s.types import Manifest

Lookup = Callable[[str, str], Manifest | None]  # kind, name -> object of the pod's namespace
DEFAULT_GRACE = 30


@dataclass(frozen=True, slots=True)
class Settings:
    """How the site runs pods. `bin_folders` stand at the head of PATH; `user` None means our own."""

    folder: Path
    bin_folders: tuple[Path, ...] = ()
    user: PodUser | None = None
    log_limit: int = 1024**3
    limits: dict[str, int] = field(default_factory=lambda: {"NOFILE": 65536, "CORE": 0})
    processes_per_user: int = 8192


class NotReady(Exception):
    """Something that the pod refers to is not there yet; `reason` in Kubernetes' words."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


def prepare(settings: Settings, pod: Manifest, lookup: Lookup) -> Path:
    """Make the folder of a pod and return it; doing it again is harmless until the shim has started."""
    meta, spec = pod["metadata"], pod["spec"]
    folder = paths.pod(settings.folder, meta["uid"])
    folder.parent.mkdir(mode=0o711, exist_ok=True)
    folder.mkdir(mode=0o711, exist_ok=True)
    for name in ("home", "tmp", "volumes"):
        (folder / name).mkdir(exist_ok=True)
    for name in ("home", "tmp"):
        isolation.give(folder / name, settings.user, 0o700)
    volumes = {
        volume["name"]: _volume(settings, volume, meta["namespace"], folder, lookup)
        for volume in spec.get("volumes") or []
    }
    steps = [
        _step(settings, pod, container, volumes, folder, lookup, init=init)
        for init, containers in ((True, spec.get("initContainers") or []), (False, spec["containers"][:1]))
        for container in containers
    ]
    user = settings.user
    limits = dict(settings.limits)
    if user is not None:
        limits["NPROC"] = settings.processes_per_user
    plan: dict[str, Any] = {
        "wake": str(settings.folder / wake.NAME),
        "log_limit": settings.log_limit,
        "grace": spec.get("terminationGracePeriodSeconds", DEFAULT_GRACE),
        "user": None if user is None else {"uid": user.uid, "gid": user.gid},
        "limits": limits,
        "steps": steps,
    }
    os.close(os.open(folder / "plan.json.tmp", os.O_CREAT | os.O_WRONLY, 0o600))  # it holds secrets
    shim.write_json(folder / "plan.json", plan)
    return folder


def _step(
    settings: Settings,
    pod: Manifest,
    container: Manifest,
    volumes: dict[str, Path],
    folder: Path,
    lookup: Lookup,
    *,
    init: bool,
) -> dict[str, Any]:
    mounts = {}
    for mount in container.get("volumeMounts") or []:
        if mount["name"] not in volumes:
            raise NotReady("FailedMount", f"The pod has no volume {mount['name']}.")
        mounts[mount["mountPath"]] = str(_inside(volumes[mount["name"]], mount.get("subPath", "")))
    wanted, known = _environment(pod, container, mounts, lookup)
    command = [*(container.get("command") or []), *(container.get("args") or [])]
    return {
        "name": container["name"],
        "init": init,
        "argv": [rewrite.argument(rewrite.expand(part, known), mounts) for part in command],
        "env": _base(settings, pod, folder) | wanted,
        "cwd": rewrite.locate(container["workingDir"], mounts)
        if container.get("workingDir")
        else str(folder / "home"),
    }


def _base(settings: Settings, pod: Manifest, folder: Path) -> dict[str, str]:
    """All that a pod inherits: an allow-list, nothing of the portal's own environment."""
    user = settings.user.name if settings.user else "pod"
    system = ("/usr/local/bin", "/usr/bin", "/bin")
    return {
        "PATH": os.pathsep.join([*map(str, settings.bin_folders), *system]),
        "LANG": "C.UTF-8",
        "HOME": str(folder / "home"),
        "TMPDIR": str(folder / "tmp"),
        "USER": user,
        "LOGNAME": user,
        "HOSTNAME": pod["metadata"]["name"],
        processes.MARK: pod["metadata"]["uid"],
    }


def _environment(
    pod: Manifest, container: Manifest, mounts: dict[str, str], lookup: Lookup
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the container's variables with real paths, and as Kubernetes would expand references to them."""
    known: dict[str, str] = {}
    for source in container.get("envFrom") or []:
        for kind, ref in (("Secret", source.get("secretRef")), ("ConfigMap", source.get("configMapRef"))):
            if ref is not None:
                prefix = source.get("prefix", "")
                known |= {prefix + key: text for key, text in _texts(kind, ref, lookup).items()}
    real = dict(known)
    for entry in container.get("env") or []:
        name = entry["name"]
        if "valueFrom" in entry:
            text = _reference(pod, entry["valueFrom"], lookup)
            if text is not None:
                known[name] = real[name] = text
        else:
            known[name] = rewrite.expand(entry.get("value") or "", known)
            real[name] = rewrite.value(known[name], mounts)
    return real, known


def _reference(pod: Manifest, source: Manifest, lookup: Lookup) -> str | None:
    meta = pod["metadata"]
    fields = {
        "metadata.name": meta["name"],
        "metadata.namespace": meta["namespace"],
        "metadata.uid": meta["uid"],
        "spec.nodeName": pod["spec"].get("nodeName", ""),
    }
    for kind, key in (("Secret", "secretKeyRef"), ("ConfigMap", "configMapKeyRef")):
        if ref := source.get(key):
            texts = _texts(kind, ref, lookup)
            if ref["key"] not in texts and not ref.get("optional"):
                raise NotReady("CreateContainerConfigError", f"{kind} {ref['name']} has no key {ref['key']}.")
            return texts.get(ref["key"])
    path = (source.get("fieldRef") or {}).get("fieldPath")
    if path not in fields:
        raise NotReady("CreateContainerConfigError", f"The embedded site cannot give {source}.")
    return str(fields[path])


def _texts(kind: str, ref: Manifest, lookup: Lookup) -> dict[str, str]:
    return {key: data.decode("utf-8", "replace") for key, data in _data(kind, ref, lookup).items()}


def _data(kind: str, ref: Manifest, lookup: Lookup) -> dict[str, bytes]:
    name = ref.get("name") or ref.get("secretName") or ""
    obj = lookup(kind, name)
    if obj is None:
        if ref.get("optional"):
            return {}
        raise NotReady("CreateContainerConfigError", f"{kind} {name} is not there.")
    if kind == "Secret":
        return {key: base64.b64decode(text) for key, text in (obj.get("data") or {}).items()}
    found = {key: text.encode() for key, text in (obj.get("data") or {}).items()}
    return found | {key: base64.b64decode(text) for key, text in (obj.get("binaryData") or {}).items()}


def _volume(settings: Settings, volume: Manifest, namespace: str, folder: Path, lookup: Lookup) -> Path:
    path = _inside(folder / "volumes", volume["name"])
    if claim := volume.get("persistentVolumeClaim"):
        if lookup("PersistentVolumeClaim", claim["claimName"]) is None:
            raise NotReady("FailedMount", f"PersistentVolumeClaim {claim['claimName']} is not there.")
        path = paths.claim(settings.folder, namespace, str(claim["claimName"]))
        path.parent.parent.mkdir(mode=0o711, exist_ok=True)
        path.parent.mkdir(mode=0o711, exist_ok=True)
        path.mkdir(exist_ok=True)
        isolation.give(path, settings.user, 0o750)
    elif "emptyDir" in volume:
        path.mkdir(exist_ok=True)
        isolation.give(path, settings.user, 0o700)
    elif "configMap" in volume or "secret" in volume:
        kind = "ConfigMap" if "configMap" in volume else "Secret"
        ref = volume["configMap" if kind == "ConfigMap" else "secret"]
        path.mkdir(mode=0o755, exist_ok=True)
        data = _data(kind, ref, lookup)
        items = {item["key"]: item["path"] for item in ref.get("items") or []} or {key: key for key in data}
        for key, name in items.items():
            target = _inside(path, name)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            target.write_bytes(data[key])
            isolation.give(
                target, settings.user if kind == "Secret" else None, 0o400 if kind == "Secret" else 0o444
            )
    else:
        raise NotReady("FailedMount", f"The embedded site has no volumes like {volume['name']}.")
    return path


def _inside(folder: Path, name: str) -> Path:
    """Return a path below a folder; Kubernetes refuses names that lead out of it, too."""
    if name.startswith("/") or ".." in Path(name).parts:
        raise NotReady("FailedMount", f"{name!r} leads out of its volume.")
    return folder / name
