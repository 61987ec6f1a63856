"""The job spec as a value, and its JSON shape."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

DEFAULT_PROJECT = "default"
DEFAULT_CHECKPOINT_PATH = "/checkpoints"
PRIORITIES = ("low", "normal", "high")


@dataclass(frozen=True, slots=True)
class Inline:
    """Code as text: it becomes ``main.py`` in the working directory."""

    text: str


@dataclass(frozen=True, slots=True)
class Git:
    """Code from a repository; ``ref`` is a branch, tag or commit, ``secret`` names a stored token."""

    url: str
    ref: str = ""
    secret: str = ""


@dataclass(frozen=True, slots=True)
class Archive:
    """Code from an upload, by its id."""

    upload: str


@dataclass(frozen=True, slots=True)
class Checkpoints:
    """Where checkpoints are mounted, whether a new run starts from the last one, how many are kept."""

    path: str = DEFAULT_CHECKPOINT_PATH
    resume: str = "auto"
    keep_last: int | None = None


@dataclass(frozen=True, slots=True)
class JobSpec:
    """What a customer wants run. Build it with ``jobspec.parse``, which holds the limits."""

    cluster: str
    name: str = ""
    project: str = DEFAULT_PROJECT
    environment: str = ""
    code: Inline | Git | Archive | None = None
    command: tuple[str, ...] = ()
    replicas: int = 1
    gpus_per_replica: int = 1
    processes_per_replica: int = 1
    env: Mapping[str, str] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()
    checkpoints: Checkpoints | None = None
    max_runtime_seconds: int | None = None
    max_retries: int = 0
    priority: str = "normal"
    tags: Mapping[str, str] = field(default_factory=dict)

    @property
    def gpus(self) -> int:
        """All GPUs of one run."""
        return self.replicas * self.gpus_per_replica

    @property
    def checkpoint_path(self) -> str:
        """The folder below which each run has its own checkpoint folder."""
        return self.checkpoints.path if self.checkpoints else DEFAULT_CHECKPOINT_PATH

    @property
    def resumes(self) -> bool:
        """Whether a retry starts from the newest complete checkpoint."""
        return self.checkpoints is None or self.checkpoints.resume == "auto"


def to_dict(spec: JobSpec) -> dict[str, Any]:
    """Return the JSON shape of a spec; ``parse(to_dict(spec)) == spec``."""
    data: dict[str, Any] = {
        "cluster": spec.cluster,
        "project": spec.project,
        "command": list(spec.command),
        "replicas": spec.replicas,
        "gpus_per_replica": spec.gpus_per_replica,
        "processes_per_replica": spec.processes_per_replica,
        "env": dict(spec.env),
        "secrets": list(spec.secrets),
        "max_retries": spec.max_retries,
        "priority": spec.priority,
        "tags": dict(spec.tags),
    }
    if spec.name:
        data["name"] = spec.name
    if spec.environment:
        data["environment"] = spec.environment
    if spec.max_runtime_seconds is not None:
        data["max_runtime_seconds"] = spec.max_runtime_seconds
    if spec.checkpoints is not None:
        data["checkpoints"] = {"path": spec.checkpoints.path, "resume": spec.checkpoints.resume}
        if spec.checkpoints.keep_last is not None:
            data["checkpoints"]["keep_last"] = spec.checkpoints.keep_last
    match spec.code:
        case Inline(text):
            data["code"] = {"inline": text}
        case Archive(upload):
            data["code"] = {"archive": upload}
        case Git(url, ref, secret):
            optional = {"ref": ref, "secret": secret}
            data["code"] = {"git": {"url": url, **{key: value for key, value in optional.items() if value}}}
    return data


def fits(spec: JobSpec, nodes: int, gpus_per_node: int) -> bool:
    """Say whether an empty cluster could hold the gang: Σ ⌊gpus_per_node / gpus_per_replica⌋ ≥ replicas."""
    return nodes * (gpus_per_node // spec.gpus_per_replica) >= spec.replicas
