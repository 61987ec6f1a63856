"""Frozen values that cross the fence. Times are aware UTC; labels are plain mappings."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

Manifest = dict[str, Any]
EventType = Literal["added", "modified", "deleted", "bookmark"]
PodPhase = Literal["Pending", "Running", "Succeeded", "Failed", "Unknown"]


@dataclass(frozen=True, slots=True)
class ApplyResult:
    """What an apply left behind; `created` is False when the object was there before."""

    uid: str
    resource_version: str
    created: bool


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition of a status; `status` is True only for the word "True"."""

    type: str
    status: bool
    reason: str
    message: str
    changed_at: datetime | None


@dataclass(frozen=True, slots=True)
class ReplicaStatus:
    """Pods of one replica type ("Master", "Worker"), counted by the operator."""

    active: int = 0
    succeeded: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class PyTorchJobInfo:
    """A PyTorchJob as observed. `deleted`: its deletion was asked for; it is gone only when `get` says so."""

    name: str
    namespace: str
    uid: str
    resource_version: str
    labels: Mapping[str, str] = field(default_factory=dict)
    conditions: tuple[Condition, ...] = ()
    replicas: Mapping[str, ReplicaStatus] = field(default_factory=dict)
    created_at: datetime | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    deleted: bool = False

    def condition(self, kind: str) -> Condition | None:
        """Return the condition of this type if it is true now."""
        return next((c for c in self.conditions if c.type == kind and c.status), None)


@dataclass(frozen=True, slots=True)
class PodInfo:
    """A pod as observed; `replica` is for example `master-0`.

    `started_at` is the main container's: None says that it never ran. `exit_code` and `finished_at` are
    those of the container that explains the end: the main one, or an init container that failed.

    `reason` and `message` come from the pod's status, else from its container (`Error`, `OOMKilled`,
    `CreateContainerConfigError`, …), else from the scheduler (`Unschedulable`).
    """

    name: str
    namespace: str
    uid: str
    labels: Mapping[str, str]
    run: str
    replica: str
    phase: PodPhase
    reason: str = ""
    message: str = ""
    exit_code: int | None = None
    node: str = ""
    created_at: datetime | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class NodeInfo:
    """A server as the site sees it; `owner` is the cluster whose label it carries, or empty."""

    name: str
    labels: Mapping[str, str]
    gpus: int
    ready: bool
    schedulable: bool
    owner: str = ""
    fabric: str = ""


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """One step of a watch; a bookmark has no job and only moves the resource version."""

    type: EventType
    resource_version: str
    job: PyTorchJobInfo | None = None


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line; `partial`: it was too long and goes on in the next LogLine."""

    time: datetime
    text: str
    partial: bool = False


@dataclass(frozen=True, slots=True)
class LogChunk:
    """Lines from a cursor on; `cursor` continues, `eof` says that nothing will ever follow.

    `exit_code` comes with the end, where the site still knows how the main container ended.
    `gap`: the site has thrown away lines between the cursor and these.
    """

    lines: tuple[LogLine, ...]
    cursor: str
    eof: bool
    exit_code: int | None = None
    gap: bool = False


@dataclass(frozen=True, slots=True)
class Permission:
    """Something that we may want to do at a site; an empty namespace means everywhere."""

    verb: str
    resource: str
    group: str = ""
    namespace: str = ""
    subresource: str = ""


@dataclass(frozen=True, slots=True)
class StorageClass:
    """A kind of volumes that a site offers."""

    name: str
    provisioner: str
    default: bool


@dataclass(frozen=True, slots=True)
class IssuedToken:
    """A token of a service account and when it ends; the site may have shortened its life."""

    token: str = field(repr=False)
    expires_at: datetime
