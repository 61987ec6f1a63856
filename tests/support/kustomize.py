"""Builds the part of kustomize that k8s/deploy uses, and refuses the rest, and references into nothing."""

import copy
from pathlib import Path
from typing import Any

import yaml

Manifest = dict[str, Any]
KNOWN = {
    "apiVersion",
    "kind",
    "namespace",
    "resources",
    "components",
    "configMapGenerator",
    "images",
    "patches",
}
EVERYWHERE = {"Namespace", "ClusterRole", "ClusterRoleBinding"}  # kinds that live in no namespace


class Broken(ValueError):
    """A kustomization that says what cannot be, or what this does not know."""


def build(folder: Path, into: list[Manifest] | None = None) -> list[Manifest]:
    """Return the manifests of a folder; a component changes those that are there already."""
    file = folder / "kustomization.yaml"
    if not file.is_file():
        raise Broken(f"{folder} has no kustomization.yaml")
    spec = yaml.safe_load(file.read_text())
    if unknown := set(spec) - KNOWN:
        raise Broken(f"{file}: {sorted(unknown)} is not known here")
    found = [] if into is None else into
    for name in spec.get("resources", ()):
        for one in _resource(folder / name, file):
            if any(_key(other) == _key(one) for other in found):
                raise Broken(f"{file}: {_key(one)} is there twice")
            found.append(one)
    for one in spec.get("configMapGenerator", ()):
        _generate(found, one, folder)
    for name in spec.get("components", ()):
        build(folder / name, into=found)
    for one in spec.get("patches", ()):
        _patch(found, one, folder)
    for one in spec.get("images", ()):
        _image(found, one)
    if namespace := spec.get("namespace"):
        for manifest in found:
            if manifest["kind"] not in EVERYWHERE:
                manifest["metadata"]["namespace"] = namespace
    return found


def read(file: Path) -> list[Manifest]:
    """Return the documents of a file."""
    documents = [one for one in yaml.safe_load_all(file.read_text()) if one is not None]
    for one in documents:
        if not {"apiVersion", "kind", "metadata"} <= set(one):
            raise Broken(f"{file} holds what is no manifest")
    return documents


def _resource(path: Path, source: Path) -> list[Manifest]:
    if path.is_dir():
        return build(path)
    if not path.is_file():
        raise Broken(f"{source}: {path.name} is not there")
    return read(path)


def _key(one: Manifest) -> tuple[str, str, str]:
    return one["apiVersion"], one["kind"], one["metadata"]["name"]


def _generate(found: list[Manifest], spec: Manifest, folder: Path) -> None:
    data = {}
    for name in spec["envs"]:
        for line in (folder / name).read_text().splitlines():
            if line and not line.startswith("#"):
                key, _, value = line.partition("=")
                data[key] = value
    before = [one for one in found if one["kind"] == "ConfigMap" and one["metadata"]["name"] == spec["name"]]
    if spec.get("behavior") == "merge":
        if not before:
            raise Broken(f"{folder}: there is no ConfigMap {spec['name']} to merge into")
        before[0]["data"] |= data
    else:
        metadata = {"name": spec["name"]}
        found.append({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})


def _image(found: list[Manifest], spec: Manifest) -> None:
    hits = 0
    for manifest in found:
        for container in containers(manifest):
            if container["image"].rpartition(":")[0] == spec["name"] or container["image"] == spec["name"]:
                container["image"] = f"{spec['newName']}:{spec['newTag']}"
                hits += 1
    if not hits:
        raise Broken(f"no container has the image {spec['name']}")


def _patch(found: list[Manifest], spec: Manifest, folder: Path) -> None:
    target = spec["target"]
    if set(target) != {"kind", "name"}:
        raise Broken(f"{folder}: a target is a kind and a name here")
    hit = [one for one in found if (one["kind"], one["metadata"]["name"]) == (target["kind"], target["name"])]
    if not hit:
        raise Broken(f"{folder}: there is no {target['kind']} {target['name']} to patch")
    operations = yaml.safe_load((folder / spec["path"]).read_text() if "path" in spec else spec["patch"])
    for operation in copy.deepcopy(operations):
        if operation["op"] != "replace":
            raise Broken(f"{folder}: {operation['op']} is not known here")
        *way, last = operation["path"].strip("/").split("/")
        place: Any = hit[0]
        for step in way:
            place = place[int(step) if isinstance(place, list) else step]
        key = int(last) if isinstance(place, list) else last
        try:
            place[key]
        except (KeyError, IndexError) as error:
            raise Broken(f"{folder}: {operation['path']} is not there") from error
        place[key] = operation["value"]


def pod(manifest: Manifest) -> Manifest | None:
    """Return the pod spec of a workload, None of anything else."""
    found: Manifest | None = manifest.get("spec", {}).get("template", {}).get("spec")
    return found


def containers(manifest: Manifest) -> list[Manifest]:
    """Return all containers of a workload, those that run first included."""
    spec = pod(manifest) or {}
    return [*spec.get("initContainers", ()), *spec.get("containers", ())]
