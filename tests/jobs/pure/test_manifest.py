"""Manifests: valid against the CRD's schema, by the contract, free of user text where it could harm."""

import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from core import ids
from jobs import jobspec, manifest
from jobs.jobspec import Archive, Checkpoints, Git, Inline, JobSpec

CRD = Path(__file__).parents[2] / "data" / "kubeflow.org_pytorchjobs.yaml"
RUN, JOB, CLUSTER = "run_01k0000000000000000000000a", "job_01k0000000000000000000000b", "clu_01k00000000c"


@cache
def validator() -> Any:
    crd = yaml.load(CRD.read_text(), yaml.CSafeLoader)
    (version,) = [one for one in crd["spec"]["versions"] if one["name"] == "v1"]
    return jsonschema.Draft7Validator(closed(version["schema"]["openAPIV3Schema"], top=True))


def closed(schema: Any, top: bool = False) -> Any:
    """Forbid unknown fields, as an API server with strict field validation does."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    out = {key: closed(value) for key, value in schema.items() if key != "format"}
    open_ended = out.get("x-kubernetes-preserve-unknown-fields") or "additionalProperties" in out
    if isinstance(out.get("properties"), dict) and "type" in out and not open_ended and not top:
        out["additionalProperties"] = False
    if out.pop("x-kubernetes-int-or-string", False):
        out.pop("type", None)
        out["anyOf"] = [{"type": "integer"}, {"type": "string"}]
    return out


def plan(**changes: Any) -> manifest.RunPlan:
    spec = JobSpec(cluster=CLUSTER, name="训练 🚀", code=Inline("print(1)"), command=("python", "main.py"))
    spec = replace(spec, **{key: changes.pop(key) for key in list(changes) if hasattr(spec, key)})
    return manifest.RunPlan(RUN, JOB, CLUSTER, spec, "registry.example/pytorch:2.9", **changes)


def by_name(objects: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {f"{one['kind']}/{one['metadata']['name']}": one for one in objects}


def job_of(objects: list[dict[str, Any]]) -> dict[str, Any]:
    job = objects[-1]
    assert job["kind"] == "PyTorchJob"
    return job


def pods_of(objects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    specs = job_of(objects)["spec"]["pytorchReplicaSpecs"]
    return [replica["template"]["spec"] for replica in specs.values()]


def test_a_job_of_two_replicas_is_what_the_contract_says() -> None:
    made = plan(
        replicas=2,
        gpus_per_replica=8,
        processes_per_replica=8,
        env={"NCCL_DEBUG": "WARN"},
        max_runtime_seconds=3600,
        resume_from="/checkpoints/run_0/step-10",
    )
    objects = manifest.build(made)
    job = job_of(objects)
    assert job["apiVersion"] == "kubeflow.org/v1"
    assert job["metadata"]["name"] == "run-01k0000000000000000000000a"
    assert job["metadata"]["namespace"] == "clu-01k00000000c"
    assert job["metadata"]["labels"] == {
        "berth.dev/run": "run-01k0000000000000000000000a",
        "berth.dev/job": "job-01k0000000000000000000000b",
        "berth.dev/cluster": "clu-01k00000000c",
    }
    assert job["metadata"]["annotations"]["berth.dev/name"] == "训练 🚀"
    assert job["spec"]["runPolicy"] == {"cleanPodPolicy": "Running", "activeDeadlineSeconds": 3660}
    assert job["spec"]["nprocPerNode"] == "8"
    replicas = job["spec"]["pytorchReplicaSpecs"]
    assert {name: (one["replicas"], one["restartPolicy"]) for name, one in replicas.items()} == {
        "Master": (1, "Never"),
        "Worker": (1, "Never"),
    }
    for pod in pods_of(objects):
        (container,) = pod["containers"]
        assert container["name"] == "pytorch"
        assert container["workingDir"] == "/workspace"
        assert container["resources"]["limits"] == {"nvidia.com/gpu": 8}
        assert {one["name"]: one["value"] for one in container["env"]} == {
            "NCCL_DEBUG": "WARN",
            "CHECKPOINT_DIR": f"/checkpoints/{RUN}",
            "RESUME_FROM": "/checkpoints/run_0/step-10",
            "DATA_DIR": "/data",
        }
        assert pod["nodeSelector"] == {"berth.dev/cluster": "clu-01k00000000c"}
        assert pod["tolerations"][0]["key"] == "berth.dev/cluster"
        assert pod["automountServiceAccountToken"] is False
        assert "initContainers" not in pod
        assert {one["name"]: one["mountPath"] for one in container["volumeMounts"]} == {
            "data": "/data",
            "checkpoints": "/checkpoints",
            "shm": "/dev/shm",
            "code": "/workspace",
        }
    assert by_name(objects)["ConfigMap/run-01k0000000000000000000000a-code"]["data"] == {
        "main.py": "print(1)"
    }


def test_one_replica_has_no_worker_and_no_limit_no_deadline() -> None:
    job = job_of(manifest.build(plan()))
    assert set(job["spec"]["pytorchReplicaSpecs"]) == {"Master"}
    assert "activeDeadlineSeconds" not in job["spec"]["runPolicy"]
    assert "backoffLimit" not in job["spec"]["runPolicy"]


def with_secrets() -> manifest.RunPlan:
    return replace(plan(secrets=("HF_TOKEN",)), secrets={"HF_TOKEN": "s3cret"})


def test_secrets_stand_in_a_secret_only() -> None:
    objects = manifest.build(with_secrets())
    secret = by_name(objects)["Secret/run-01k0000000000000000000000a-env"]
    assert secret["stringData"] == {"HF_TOKEN": "s3cret"}
    assert "s3cret" not in str([one for one in objects if one["kind"] != "Secret"])
    (pod,) = pods_of(objects)
    assert pod["containers"][0]["envFrom"] == [{"secretRef": {"name": "run-01k0000000000000000000000a-env"}}]


def test_missing_values_are_refused() -> None:
    with pytest.raises(ValueError, match="secrets"):
        manifest.build(plan(secrets=("HF_TOKEN",)))
    with pytest.raises(ValueError, match="code_url"):
        manifest.build(plan(code=Archive("upl_1")))
    with pytest.raises(ValueError, match="git"):
        manifest.build(plan(code=Git("https://a/b", "", "TOKEN")))


def test_an_archive_is_fetched_by_an_init_container_with_a_hidden_ticket() -> None:
    objects = manifest.build(plan(code=Archive("upl_1"), code_url="https://portal/ticket/abc"))
    named = by_name(objects)
    script = named["ConfigMap/run-01k0000000000000000000000a-fetch"]["data"]["fetch.py"]
    compile(script, "fetch.py", "exec")
    (pod,) = pods_of(objects)
    (init,) = pod["initContainers"]
    assert init["command"] == ["python", "/berth/fetch.py"]
    assert init["env"] == [{"name": "CODE_DIR", "value": "/workspace"}]
    assert init["envFrom"] == [{"secretRef": {"name": "run-01k0000000000000000000000a-fetch"}}]
    assert "ticket" not in str(pod)
    assert {"name": "code", "emptyDir": {}} in pod["volumes"]


def test_git_is_fetched_with_its_token_for_the_init_container_only() -> None:
    code = Git("https://example.org/a.git", "v1", "GIT")
    objects = manifest.build(plan(code=code, git_token="t0ken"))
    (pod,) = pods_of(objects)
    variables = {one["name"]: one["value"] for one in pod["initContainers"][0]["env"]}
    assert variables == {"CODE_DIR": "/workspace", "GIT_URL": "https://example.org/a.git", "GIT_REF": "v1"}
    assert "envFrom" not in pod["containers"][0]
    assert "t0ken" not in str(pod)


def test_code_in_the_image_keeps_the_images_working_directory() -> None:
    (pod,) = pods_of(manifest.build(plan(code=None)))
    assert "workingDir" not in pod["containers"][0]
    assert [one["name"] for one in pod["volumes"]] == ["data", "checkpoints", "shm"]


def test_checkpoints_may_be_mounted_elsewhere() -> None:
    (pod,) = pods_of(manifest.build(plan(checkpoints=Checkpoints("/ckpt/run"))))
    assert {"name": "CHECKPOINT_DIR", "value": f"/ckpt/run/{RUN}"} in pod["containers"][0]["env"]
    assert {"name": "checkpoints", "mountPath": "/ckpt/run"} in pod["containers"][0]["volumeMounts"]


def expand(text: str, variables: dict[str, str]) -> str:
    """Do what Kubernetes does to commands and values (forked/golang/expansion)."""
    pattern = re.compile(r"\$(?:\$|\(([^()]*)\))")
    return pattern.sub(
        lambda hit: "$" if hit[0] == "$$" else variables.get(hit[1], hit[0]),
        text,
    )


@given(st.lists(st.sampled_from(["$", "$$", "$(", "$(RANK)", "(", ")", "echo ", "${X}", "`"]), max_size=8))
def test_what_a_user_writes_reaches_the_process_unchanged(parts: list[str]) -> None:
    text = "x" + "".join(parts)
    (pod,) = pods_of(manifest.build(plan(command=("bash", "-c", text), env={"A": text})))
    assert expand(pod["containers"][0]["command"][2], {"RANK": "7", "X": "no"}) == text
    assert expand(pod["containers"][0]["env"][0]["value"], {"RANK": "7", "X": "no"}) == text


CODES = st.sampled_from([None, Inline("x"), Git("https://a/b", "", "T"), Git("git@a:b"), Archive("upl_1")])


@given(
    name=st.text(max_size=100),
    replicas=st.integers(1, 2000),
    gpus=st.integers(1, 16),
    limit=st.none() | st.integers(1, 10**7),
    code=CODES,
    env=st.dictionaries(st.from_regex(r"\A[A-Z_]{1,8}\Z"), st.text(max_size=20), max_size=3),
    resume=st.sampled_from(["", "/checkpoints/run_0/step-5"]),
)
def test_every_manifest_is_valid_and_the_same_twice(
    name: str, replicas: int, gpus: int, limit: int | None, code: Any, env: dict[str, str], resume: str
) -> None:
    made = plan(
        name=name,
        replicas=replicas,
        gpus_per_replica=gpus,
        max_runtime_seconds=limit,
        code=code,
        env=env,
        code_url="https://portal/t" if isinstance(code, Archive) else "",
        git_token="t" if isinstance(code, Git) and code.secret else "",
        resume_from=resume,
    )
    objects = manifest.build(made)
    assert objects == manifest.build(made)
    job = job_of(objects)
    validator().validate(job)
    for one in objects:
        metadata = one["metadata"]
        assert re.fullmatch(r"[a-z][a-z0-9-]{0,39}", metadata["name"])
        assert all(re.fullmatch(r"[a-z][a-z0-9-]{0,62}", value) for value in metadata["labels"].values())
    for pod in pods_of(objects):
        volumes = {one["name"] for one in pod["volumes"]}
        for container in pod["containers"] + pod.get("initContainers", []):
            assert {one["name"] for one in container["volumeMounts"]} <= volumes
    assert len(f"{job['metadata']['name']}-worker-{replicas}") <= 63


def test_a_resumed_run_links_its_checkpoint_before_it_starts() -> None:
    target = f"/checkpoints/{RUN}/step-10"
    made = plan(replicas=2, resume_from=target, resume_source="/checkpoints/run_0/step-10")
    objects = manifest.build(made)
    validator().validate(job_of(objects))
    assert "link.py" in by_name(objects)[f"ConfigMap/{made.name}-link"]["data"]
    for pod in pods_of(objects):
        (init,) = pod["initContainers"]
        variables = {one["name"]: one["value"] for one in init["env"]}
        assert variables == {"RESUME_SOURCE": "/checkpoints/run_0/step-10", "RESUME_FROM": target}
        assert [one["name"] for one in init["volumeMounts"]] == ["checkpoints", "link"]
        assert {"name": "link", "configMap": {"name": f"{made.name}-link"}} in pod["volumes"]


def test_ids_made_by_the_portal_fit_names() -> None:
    made = replace(plan(), run=ids.new("run"), job=ids.new("job"), cluster=ids.new("clu"))
    assert len(job_of(manifest.build(made))["metadata"]["name"]) <= 40


def test_the_validator_would_notice_a_wrong_field() -> None:
    job = job_of(manifest.build(plan()))
    job["spec"]["runPolicy"]["cleanPodPolicys"] = "All"
    with pytest.raises(jsonschema.ValidationError):
        validator().validate(job)


def test_a_spec_from_the_api_becomes_a_manifest() -> None:
    spec = jobspec.parse({"cluster": CLUSTER, "code": {"inline": "print(1)"}})
    objects = manifest.build(manifest.RunPlan(RUN, JOB, CLUSTER, spec, "image"))
    validator().validate(job_of(objects))
