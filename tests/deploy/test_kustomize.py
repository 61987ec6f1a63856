"""The overlays hold together: every reference leads somewhere, and kustomize itself builds the same."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deploy.conftest import FOLDER
from tests.support import kustomize, schemas, tree

BUILDS = ["small", "production", "site", "tenant-manager"]
KUBECTL = shutil.which("kubectl")
CUSTOM = {"ServiceMonitor", "PrometheusRule"}  # kinds of the Prometheus operator


def _names(manifests: list[dict[str, Any]]) -> set[tuple[str, str]]:
    return {(one["kind"], one["metadata"]["name"]) for one in manifests}


@pytest.mark.parametrize("name", BUILDS)
def test_every_build_holds_together(name: str) -> None:
    assert kustomize.build(FOLDER / name)


def test_no_manifest_is_left_out() -> None:
    """A file that nothing names would be a promise that nobody keeps."""
    named = set()
    for file in FOLDER.rglob("kustomization.yaml"):
        spec = yaml.safe_load(file.read_text())
        for entry in (*spec.get("resources", ()), *spec.get("components", ())):
            named.add((file.parent / entry).resolve())
        named |= {(file.parent / one["path"]).resolve() for one in spec.get("patches", ()) if "path" in one}
    written = {path for path in FOLDER.rglob("*.yaml") if path.name != "kustomization.yaml"}
    assert {path.resolve() for path in written} <= named


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("- ingress.yaml", "- gone.yaml"), "gone.yaml is not there"),
        (("name: worker", "name: drone"), "no Deployment drone to patch"),
        (("path: /spec/replicas", "path: /spec/copies"), "/spec/copies is not there"),
        (("name: berth\n    newName", "name: other\n    newName"), "no container has the image other"),
    ],
)
def test_a_reference_into_nothing_is_noticed(tmp_path: Path, change: tuple[str, str], said: str) -> None:
    copied = tmp_path / "deploy"
    shutil.copytree(FOLDER, copied)
    file = copied / "production" / "kustomization.yaml"
    text = file.read_text()
    assert change[0] in text
    file.write_text(text.replace(*change))
    with pytest.raises(kustomize.Broken, match=said):
        kustomize.build(copied / "production")


@pytest.mark.skipif(KUBECTL is None, reason="there is no kubectl: kustomize itself built nothing")
@pytest.mark.parametrize("name", BUILDS)
def test_kustomize_builds_the_same(name: str) -> None:
    made = subprocess.run(
        [str(KUBECTL), "kustomize", str(FOLDER / name)],
        cwd=tree.ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    theirs = yaml.safe_load_all(re.sub(r"berth-config-[a-z0-9]{10}\b", "berth-config", made.stdout))
    ours = kustomize.build(FOLDER / name)
    by_name = {(one["kind"], one["metadata"]["name"]): one for one in theirs}
    assert by_name == {(one["kind"], one["metadata"]["name"]): one for one in ours}


@pytest.mark.parametrize("name", BUILDS)
def test_every_manifest_is_of_its_schema(name: str) -> None:
    found = kustomize.build(FOLDER / name)
    faults = [fault for one in found for fault in schemas.faults(one)]
    assert faults == []
    assert {one["kind"] for one in found if schemas.model_of(one) is None} <= CUSTOM


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"replica": 1}, "Deployment.spec.replica is not known"),
        ({"replicas": "1"}, "Deployment.spec.replicas is no int"),
        ({"selector": None}, "Deployment.spec.selector is no mapping"),
        ({"template": {"spec": {"containers": [{"image": "x"}]}}}, "containers[0].name is missing"),
    ],
)
def test_the_check_of_schemas_sees_faults(change: dict[str, Any], said: str) -> None:
    manifest = next(one for one in kustomize.build(FOLDER / "small") if one["metadata"]["name"] == "beat")
    manifest["spec"] |= change
    assert any(said in fault for fault in schemas.faults(manifest))


def test_what_manifests_name_is_there(built: list[dict[str, Any]]) -> None:
    names = _names(built) | {("Secret", "berth-secrets"), ("Secret", "berth-tls")}  # made by hand
    wanted = set()
    for one in built:
        spec = kustomize.pod(one)
        if spec is not None:
            wanted.add(("ServiceAccount", spec["serviceAccountName"]))
        for container in kustomize.containers(one):
            for source in container["envFrom"]:
                for kind, field in (("ConfigMap", "configMapRef"), ("Secret", "secretRef")):
                    if field in source:
                        wanted.add((kind, source[field]["name"]))
        if one["kind"] == "HorizontalPodAutoscaler":
            wanted.add((one["spec"]["scaleTargetRef"]["kind"], one["spec"]["scaleTargetRef"]["name"]))
        if one["kind"] == "Ingress":
            for rule in one["spec"]["rules"]:
                paths = rule["http"]["paths"]
                wanted |= {("Service", path["backend"]["service"]["name"]) for path in paths}
            wanted |= {("Secret", entry["secretName"]) for entry in one["spec"]["tls"]}
    assert wanted <= names


def test_selectors_meet_pods(built: list[dict[str, Any]]) -> None:
    """What selects nothing protects, scales and serves nothing."""
    pods = [one["spec"]["template"]["metadata"]["labels"] for one in built if kustomize.pod(one)]
    services = [one["metadata"]["labels"] for one in built if one["kind"] == "Service"]

    def selector(one: dict[str, Any]) -> dict[str, str]:
        spec = one["spec"]
        if one["kind"] == "Service":
            return dict(spec["selector"])
        return dict((spec.get("selector") or spec.get("podSelector") or {}).get("matchLabels") or {})

    for one in built:
        if one["kind"] in {"Service", "NetworkPolicy", "PodDisruptionBudget", "Deployment", "StatefulSet"}:
            assert any(selector(one).items() <= labels.items() for labels in pods), one["metadata"]["name"]
        if one["kind"] == "ServiceMonitor":
            assert any(selector(one).items() <= labels.items() for labels in services)
