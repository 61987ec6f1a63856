"""Every process of Berth in a cluster: its command, probes, limits, rights and settings."""

import ast
import re
import shlex
from typing import Any

import pytest

from portal import gunicorn, settings
from tests.deploy.conftest import FOLDER
from tests.stack.test_settings import PRODUCTION
from tests.support import kustomize, tree

PROCESSES = {"web", "worker", "beat", "watcher", "collector"}
ONE_MACHINE = {"postgres", "redis", "embedded"}  # of the Procfile; elsewhere these are services or sites
OF_LIBRARIES = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_DEFAULT_REGION"}  # botocore reads them
OF_COMMANDS = {"SHARD"}  # put into the command as $(SHARD)


def _procfile() -> dict[str, list[str]]:
    lines = (tree.ROOT / "Procfile").read_text().splitlines()
    return {name: shlex.split(command) for name, _, command in (line.partition(":") for line in lines)}


def _workloads(built: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {one["metadata"]["name"]: one for one in built if kustomize.pod(one) is not None}


def _main(one: dict[str, Any]) -> dict[str, Any]:
    (container,) = kustomize.pod(one)["containers"]  # type: ignore[index]
    return dict(container)


def _read_names() -> set[str]:
    """Return the names that the sources ask the environment for."""
    found = set()
    for name in ("portal/settings.py", "portal/env.py", "portal/gunicorn.py", "portal/local/discover.py"):
        for node in ast.walk(ast.parse((tree.ROOT / name).read_text())):
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                asked = ast.unparse(node.func)
                if asked.startswith("env.") or asked in {"os.environ.get", "text", "flag", "number"}:
                    found.add(str(node.args[0].value))
    return found | {"DATABASE_URL"}  # the default of env.database


def _env_files() -> set[str]:
    files = [*FOLDER.rglob("config.env"), FOLDER / "secrets.env.example"]
    return {
        line.partition("=")[0]
        for file in files
        for line in file.read_text().splitlines()
        if line and not line.startswith("#")
    }


def test_every_process_is_there(built: list[dict[str, Any]]) -> None:
    assert set(_workloads(built)) == PROCESSES | {"migrate"}
    assert set(_procfile()) - ONE_MACHINE == PROCESSES - {"collector"}  # there, the watcher collects, too


@pytest.mark.parametrize("name", ["web", "worker", "beat", "watcher"])
def test_commands_are_those_of_the_procfile(built: list[dict[str, Any]], name: str) -> None:
    command = _main(_workloads(built)[name])["command"]
    assert command == _procfile()[name] + (["--without-collector"] if name == "watcher" else [])


def test_collectors_know_how_many_they_are(built: list[dict[str, Any]]) -> None:
    collector = _workloads(built)["collector"]
    command = _main(collector)["command"]
    assert command[:3] == ["python", "manage.py", "collect"]
    assert command[3:] == ["--shard=$(SHARD)", f"--shards={collector['spec']['replicas']}"]


def test_commands_of_manage_exist(built: list[dict[str, Any]]) -> None:
    from django.core.management import get_commands

    asked = [one["command"] for manifest in built for one in kustomize.containers(manifest)]
    manage = {command[2] for command in asked if command[:2] == ["python", "manage.py"]}
    assert manage == {"migrate", "check", "watch", "collect"}
    assert manage <= set(get_commands())
    assert (tree.ROOT / "core" / "alive.py").is_file()


def test_all_containers_are_one_image_with_a_version(built: list[dict[str, Any]]) -> None:
    images = {one["image"] for manifest in built for one in kustomize.containers(manifest)}
    assert len(images) == 1
    assert re.fullmatch(r"registry\.example\.com/berth:\d+\.\d+\.\d+", images.pop())


def test_pods_have_no_rights_over_their_node(built: list[dict[str, Any]]) -> None:
    for name, one in _workloads(built).items():
        spec = kustomize.pod(one) or {}
        assert not {"hostNetwork", "hostPID", "hostIPC"} & set(spec), name
        security = spec["securityContext"]
        assert security["runAsNonRoot"] is True
        assert security["runAsUser"] >= 10000
        assert security["seccompProfile"] == {"type": "RuntimeDefault"}
        assert spec["enableServiceLinks"] is False  # a Service named REDIS would set settings
        for container in kustomize.containers(one):
            inner = container["securityContext"]
            assert inner["readOnlyRootFilesystem"] is True, name
            assert inner["allowPrivilegeEscalation"] is False, name
            assert inner["capabilities"] == {"drop": ["ALL"]}, name
            assert "privileged" not in inner, name


def test_every_folder_that_is_written_is_mounted_and_bounded(built: list[dict[str, Any]]) -> None:
    for one in _workloads(built).values():
        volumes = {volume["name"]: volume for volume in (kustomize.pod(one) or {})["volumes"]}
        assert all("sizeLimit" in volume["emptyDir"] for volume in volumes.values())
        for container in kustomize.containers(one):
            mounts = {mount["mountPath"]: mount["name"] for mount in container["volumeMounts"]}
            assert set(mounts) == {"/tmp", "/var/lib/berth", "/run/berth"}
            assert set(mounts.values()) == set(volumes)


def test_every_container_asks_for_and_is_held_to_resources(built: list[dict[str, Any]]) -> None:
    for one in _workloads(built).values():
        for container in kustomize.containers(one):
            for side in ("requests", "limits"):
                assert set(container["resources"][side]) == {"cpu", "memory"}


@pytest.mark.parametrize("name", sorted(PROCESSES))
def test_every_process_is_probed(built: list[dict[str, Any]], name: str) -> None:
    container = _main(_workloads(built)[name])
    assert {"startupProbe", "livenessProbe"} <= set(container)
    if name == "web":
        assert container["livenessProbe"]["httpGet"]["path"] == "/livez"
        path = container["readinessProbe"]["httpGet"]["path"]
        assert path == "/readyz?exclude=worker&exclude=watcher"
        return
    for probe in ("startupProbe", "livenessProbe"):
        command = container[probe]["exec"]["command"]
        assert command[:5] == ["python", "-I", "-S", "core/alive.py", name]
        assert float(command[5]) >= 120


def test_nobody_starts_before_the_schema_is_there(built: list[dict[str, Any]]) -> None:
    for name, one in _workloads(built).items():
        first = (kustomize.pod(one) or {})["initContainers"][0]["command"]
        wanted = (
            ["check", "--deploy", "--fail-level", "ERROR"] if name == "migrate" else ["migrate", "--check"]
        )
        assert first == ["python", "manage.py", *wanted], name


def test_what_ends_has_the_time_it_needs(built: list[dict[str, Any]]) -> None:
    def grace(name: str) -> int:
        return int((kustomize.pod(_workloads(built)[name]) or {})["terminationGracePeriodSeconds"])

    wait = _main(_workloads(built)["web"])["lifecycle"]["preStop"]["exec"]["command"]
    assert wait[0] == "sleep"
    assert int(wait[1]) + gunicorn.graceful_timeout < grace("web")
    assert grace("worker") > settings.CELERY_TASK_TIME_LIMIT
    from jobs.management import threads

    assert grace("watcher") > threads.JOIN_SECONDS + 5
    assert grace("collector") > threads.JOIN_SECONDS + 5


def test_there_is_one_clock(built: list[dict[str, Any]]) -> None:
    for name in ("beat", "watcher"):
        spec = _workloads(built)[name]["spec"]
        assert (spec["replicas"], spec["strategy"]) == (1, {"type": "Recreate"})


def test_every_setting_in_manifests_is_read() -> None:
    known = _read_names() | OF_LIBRARIES
    assert {"SECRET_KEY", "DATABASE_URL", "WEB_BIND", "BERTH_PROCESS", "BERTH_DATA"} <= known
    assert _env_files() <= known
    for folder in ("small", "production"):
        for one in kustomize.build(FOLDER / folder):
            for container in kustomize.containers(one):
                names = {entry["name"] for entry in container.get("env", ())}
                assert names - OF_COMMANDS <= known
                for name in names & OF_COMMANDS:
                    assert f"$({name})" in " ".join(container["command"])


def test_every_setting_that_production_needs_is_there(built: list[dict[str, Any]]) -> None:
    (config,) = (one["data"] for one in built if one["kind"] == "ConfigMap")
    secrets = (FOLDER / "secrets.env.example").read_text()
    given = set(config) | set(re.findall(r"^([A-Z_]+)=", secrets, re.MULTILINE))
    needed = set(PRODUCTION) - {"PATH", "BERTH_DATA"} | {"DATABASE_URL", "REDIS_URL", "BEHIND_PROXY"}
    assert needed <= given
    assert config["PUBLIC_URL"].startswith("https://")
    assert not {"DEMO", "DEBUG", "EMBEDDED_SITE", "TEST_GATEWAY"} & given


def test_no_secret_has_a_value_in_the_repository() -> None:
    example = (FOLDER / "secrets.env.example").read_text()
    secret = {line[:-1] for line in example.splitlines() if line and not line.startswith("#")}
    assert all(line.endswith("=") for line in example.splitlines() if line and not line.startswith("#"))
    for folder in ("small", "production", "site"):
        for one in kustomize.build(FOLDER / folder):
            if one["kind"] == "ConfigMap":
                assert not secret & set(one["data"])
            if one["kind"] == "Secret":
                assert not {"data", "stringData"} & set(one)
