"""From a run to Kubernetes objects: one PyTorchJob and what its pods read. Same plan, same objects.

Names and labels are ids; what users wrote stands in annotations, variables and files only.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from core import ids
from jobs.jobspec import Archive, Git, Inline, JobSpec

Object = dict[str, Any]

API_VERSION = "kubeflow.org/v1"
GPU_RESOURCE = "nvidia.com/gpu"
LABEL_RUN, LABEL_JOB, LABEL_CLUSTER = "berth.dev/run", "berth.dev/job", "berth.dev/cluster"
ANNOTATION_NAME, ANNOTATION_RUN = "berth.dev/name", "berth.dev/run-number"
DATA_PATH, CODE_PATH, FETCH_PATH = "/data", "/workspace", "/berth"
DEADLINE_MARGIN_SECONDS = 60
GRACE_SECONDS = 30


@dataclass(frozen=True, slots=True)
class RunPlan:
    """All that a manifest depends on, as plain values.

    ``run``, ``job`` and ``cluster`` are public ids. ``secrets`` are the values of the names in the spec.
    ``resume_from`` is empty on a fresh start; ``resume_source`` is the checkpoint that is linked there before
    the start, empty if it lies there already. ``code_url`` is the ticket from which an archive is fetched;
    ``git_token`` the value of the secret that a git source names. ``fetch_image`` needs Python, and git for
    git sources; empty means the run's own image.
    """

    run: str
    job: str
    cluster: str
    spec: JobSpec
    image: str
    number: int = 1
    gpu_resource: str = GPU_RESOURCE
    secrets: Mapping[str, str] = field(default_factory=dict)
    resume_from: str = ""
    resume_source: str = ""
    code_url: str = ""
    git_token: str = ""
    fetch_image: str = ""
    grace_seconds: int = GRACE_SECONDS

    @property
    def name(self) -> str:
        """The name of the PyTorchJob, at most 40 characters (DNS-1035)."""
        return ids.object_name(self.run)

    @property
    def namespace(self) -> str:
        """The namespace: the cluster's object name."""
        return ids.object_name(self.cluster)


def build(plan: RunPlan) -> list[Object]:
    """Return the objects of a run, the PyTorchJob last, so that its pods find what they mount.

    Raises ValueError if a secret, a ticket or a token that the spec asks for is missing.
    """
    _check(plan)
    objects = []
    if plan.secrets:
        objects.append(_secret(plan, "env", {name: plan.secrets[name] for name in plan.spec.secrets}))
    match plan.spec.code:
        case Inline(text):
            objects.append(_config_map(plan, "code", {"main.py": text}))
        case Archive():
            # The ticket opens the customer's code: a secret, not a variable that anybody may read.
            objects.append(_config_map(plan, "fetch", {"fetch.py": _script("fetch.py")}))
            objects.append(_secret(plan, "fetch", {"CODE_URL": plan.code_url}))
        case Git():
            objects.append(_config_map(plan, "fetch", {"fetch.py": _script("fetch.py")}))
            if plan.git_token:
                objects.append(_secret(plan, "fetch", {"GIT_TOKEN": plan.git_token}))
    if plan.resume_source:
        objects.append(_config_map(plan, "link", {"link.py": _script("link.py")}))
    objects.append(_pytorch_job(plan))
    return objects


def checkpoint_dir(spec: JobSpec, run: str) -> str:
    """Return the folder inside the pod that a run writes its checkpoints to."""
    return f"{spec.checkpoint_path}/{run}"


def _check(plan: RunPlan) -> None:
    if set(plan.secrets) != set(plan.spec.secrets):
        raise ValueError("the values of secrets and the names in the spec differ")
    if isinstance(plan.spec.code, Archive) and not plan.code_url:
        raise ValueError("an archive needs a code_url")
    if isinstance(plan.spec.code, Git) and bool(plan.spec.code.secret) != bool(plan.git_token):
        raise ValueError("a git source with a secret needs its value, one without takes none")


@cache
def _script(name: str) -> str:
    return resources.files("jobs.podcode").joinpath(name).read_text(encoding="utf-8")


def _labels(plan: RunPlan) -> dict[str, str]:
    return {
        LABEL_RUN: plan.name,
        LABEL_JOB: ids.object_name(plan.job),
        LABEL_CLUSTER: plan.namespace,
    }


def _metadata(plan: RunPlan, name: str) -> Object:
    return {"name": name, "namespace": plan.namespace, "labels": _labels(plan)}


def _config_map(plan: RunPlan, suffix: str, data: dict[str, str]) -> Object:
    metadata = _metadata(plan, f"{plan.name}-{suffix}")
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "immutable": True, "data": data}


def _secret(plan: RunPlan, suffix: str, values: dict[str, str]) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": _metadata(plan, f"{plan.name}-{suffix}"),
        "type": "Opaque",
        "immutable": True,
        "stringData": values,
    }


def _pytorch_job(plan: RunPlan) -> Object:
    annotations = {ANNOTATION_NAME: plan.spec.name, ANNOTATION_RUN: str(plan.number)}
    policy: Object = {"cleanPodPolicy": "Running"}
    if plan.spec.max_runtime_seconds is not None:
        policy["activeDeadlineSeconds"] = plan.spec.max_runtime_seconds + DEADLINE_MARGIN_SECONDS
    replicas = {"Master": _replica(plan, 1)}
    if plan.spec.replicas > 1:
        replicas["Worker"] = _replica(plan, plan.spec.replicas - 1)
    return {
        "apiVersion": API_VERSION,
        "kind": "PyTorchJob",
        "metadata": {**_metadata(plan, plan.name), "annotations": annotations},
        "spec": {
            "nprocPerNode": str(plan.spec.processes_per_replica),
            "runPolicy": policy,
            "pytorchReplicaSpecs": replicas,
        },
    }


def _replica(plan: RunPlan, count: int) -> Object:
    annotations = {ANNOTATION_NAME: plan.spec.name}
    return {
        "replicas": count,
        "restartPolicy": "Never",
        "template": {"metadata": {"labels": _labels(plan), "annotations": annotations}, "spec": _pod(plan)},
    }


def _pod(plan: RunPlan) -> Object:
    pod: Object = {
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": plan.grace_seconds,
        "nodeSelector": {LABEL_CLUSTER: plan.namespace},
        "tolerations": [
            {"key": LABEL_CLUSTER, "operator": "Equal", "value": plan.namespace, "effect": "NoSchedule"}
        ],
        "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [_container(plan)],
        "volumes": _volumes(plan),
    }
    before = [_fetch_container(plan)] if isinstance(plan.spec.code, Archive | Git) else []
    if plan.resume_source:
        before.append(_link_container(plan))
    if before:
        pod["initContainers"] = before
    return pod


def _container(plan: RunPlan) -> Object:
    spec = plan.spec
    variables = {
        **spec.env,
        "CHECKPOINT_DIR": checkpoint_dir(spec, plan.run),
        "RESUME_FROM": plan.resume_from,
        "DATA_DIR": DATA_PATH,
    }
    mounts = [
        {"name": "data", "mountPath": DATA_PATH},
        {"name": "checkpoints", "mountPath": spec.checkpoint_path},
        {"name": "shm", "mountPath": "/dev/shm"},  # noqa: S108
    ]
    container: Object = {
        "name": "pytorch",
        "image": plan.image,
        "command": [_literal(part) for part in spec.command],
        "env": _env(variables),
        "resources": {"limits": {plan.gpu_resource: spec.gpus_per_replica}},
        "securityContext": {"allowPrivilegeEscalation": False},
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": mounts,
    }
    if plan.secrets:
        container["envFrom"] = [{"secretRef": {"name": f"{plan.name}-env"}}]
    if spec.code is not None:
        container["workingDir"] = CODE_PATH
        mounts.append({"name": "code", "mountPath": CODE_PATH})
    return container


def _link_container(plan: RunPlan) -> Object:
    """Every replica links, since any may be the first; what is there stays."""
    return {
        "name": "link",
        "image": plan.fetch_image or plan.image,
        "command": ["python", f"{FETCH_PATH}/link.py"],
        "env": _env({"RESUME_SOURCE": plan.resume_source, "RESUME_FROM": plan.resume_from}),
        "securityContext": {"allowPrivilegeEscalation": False},
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": [
            {"name": "checkpoints", "mountPath": plan.spec.checkpoint_path},
            {"name": "link", "mountPath": FETCH_PATH, "readOnly": True},
        ],
    }


def _fetch_container(plan: RunPlan) -> Object:
    variables = {"CODE_DIR": CODE_PATH}
    if isinstance(plan.spec.code, Git):
        variables |= {"GIT_URL": plan.spec.code.url, "GIT_REF": plan.spec.code.ref}
    container: Object = {
        "name": "fetch",
        "image": plan.fetch_image or plan.image,
        "command": ["python", f"{FETCH_PATH}/fetch.py"],
        "env": _env(variables),
        "securityContext": {"allowPrivilegeEscalation": False},
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": [
            {"name": "code", "mountPath": CODE_PATH},
            {"name": "fetch", "mountPath": FETCH_PATH, "readOnly": True},
        ],
    }
    if plan.code_url or plan.git_token:
        container["envFrom"] = [{"secretRef": {"name": f"{plan.name}-fetch"}}]
    return container


def _volumes(plan: RunPlan) -> list[Object]:
    volumes: list[Object] = [
        {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
        {"name": "checkpoints", "persistentVolumeClaim": {"claimName": "checkpoints"}},
        {"name": "shm", "emptyDir": {"medium": "Memory"}},
    ]
    match plan.spec.code:
        case Inline():
            volumes.append({"name": "code", "configMap": {"name": f"{plan.name}-code"}})
        case Archive() | Git():
            volumes.append({"name": "code", "emptyDir": {}})
            volumes.append({"name": "fetch", "configMap": {"name": f"{plan.name}-fetch"}})
    if plan.resume_source:
        volumes.append({"name": "link", "configMap": {"name": f"{plan.name}-link"}})
    return volumes


def _env(variables: Mapping[str, str]) -> list[Object]:
    return [{"name": name, "value": _literal(value)} for name, value in variables.items()]


def _literal(text: str) -> str:
    """Keep Kubernetes from expanding ``$(NAME)`` and ``$$`` in what a user wrote: ``$$`` stands for ``$``."""
    return text.replace("$", "$$") if "$$" in text or "$(" in text else text
