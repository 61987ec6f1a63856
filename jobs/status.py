"""From what was seen on the cluster to the status of a run: forward only, the root cause named.

Conditions are read by type among the true ones, never by position: the operator appends the newest last,
swaps Running and Restarting, and keeps False ones (kubeflow/trainer common_types.go).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from jobs import pod_reasons
from jobs.reasons import Reason, reason
from k8s.types import PodInfo, PyTorchJobInfo

ORDER = {"queued": 0, "launching": 1, "pending": 2, "running": 3}
FINAL = ("succeeded", "failed", "cancelled", "suspended")
# Why Berth ends a run: the status it gets and the reason it shows.
STOPS = {
    "cancelled": ("cancelled", "cancelled"),
    "suspended": ("suspended", "suspended"),
    "deadline": ("failed", "time_limit"),
    "cluster": ("cancelled", "cluster_ended"),
}
# Pods of one gang die within a moment of each other, and Kubernetes keeps whole seconds.
SAME_MOMENT = timedelta(seconds=2)


@dataclass(frozen=True, slots=True)
class ConditionFact:
    """A condition whose status is True."""

    type: str
    reason: str = ""
    message: str = ""
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class PodFact:
    """One pod; ``replica`` is ``master-0``, ``worker-3``; exit code of the container that explains it."""

    replica: str
    phase: str
    exit_code: int | None = None
    reason: str = ""
    message: str = ""
    started_at: datetime | None = None
    finished_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Observation:
    """What the cluster showed at ``at``.

    ``exists``: the PyTorchJob is there. ``deleted``: its deletion was asked for. Gone is what neither exists
    nor has a living pod; only then does a stopped run become final.
    """

    at: datetime
    exists: bool = True
    deleted: bool = False
    conditions: tuple[ConditionFact, ...] = ()
    pods: tuple[PodFact, ...] = ()

    def true(self, kind: str) -> ConditionFact | None:
        """Return the true condition of this type."""
        return next((fact for fact in self.conditions if fact.type == kind), None)

    @property
    def gone(self) -> bool:
        """Whether nothing of the run is left on the cluster."""
        return not self.exists and all(pod.phase in ("Succeeded", "Failed") for pod in self.pods)


@dataclass(frozen=True, slots=True)
class Stop:
    """That Berth is ending the run: cancelled, suspended, deadline or cluster, since ``at``."""

    kind: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Derived:
    """The run as derived. ``stuck`` names why it can never start: the caller should end and fail it."""

    status: str
    reason: Reason | None = None
    exit_code: int | None = None
    replica: str = ""
    started_at: datetime | None = None
    finished_at: datetime | None = None
    stuck: Reason | None = None


def observation(job: PyTorchJobInfo | None, pods: Iterable[PodInfo], at: datetime) -> Observation:
    """Return the facts of what the port to Kubernetes gave; ``job`` is None when it is not there."""
    seen = sorted(pods, key=lambda pod: _rank(pod.replica))
    facts = tuple(
        PodFact(
            pod.replica, pod.phase, pod.exit_code, pod.reason, pod.message, pod.started_at, pod.finished_at
        )
        for pod in seen
    )
    if job is None:
        return Observation(at, exists=False, pods=facts)
    conditions = tuple(
        ConditionFact(one.type, one.reason, one.message, one.changed_at)
        for one in job.conditions
        if one.status
    )
    return Observation(at, deleted=job.deleted, conditions=conditions, pods=facts)


def derive(current: str, seen: Observation, stop: Stop | None = None) -> Derived:
    """Return the status that follows ``current`` by what was seen; a run never moves back.

    Raises ValueError for a status that is none of a run's.
    """
    if current in FINAL:
        return Derived(current)
    if current not in ORDER:
        raise ValueError(f"unknown status {current!r}")
    ended = _ended(current, seen)
    # What ended before the stop was asked for ended by itself; later the stop is the cause.
    if ended and (stop is None or (ended.finished_at is not None and ended.finished_at <= stop.at)):
        return ended
    if stop is not None:
        return _stopping(current, seen, stop)
    if seen.gone and current in ("pending", "running"):
        return _finish("failed", seen, reason("vanished"), None, "")
    return _going(current, seen)


def why_pending(seen: Observation, replicas: int) -> Reason:
    """Return in words why a launched run does not run yet; ``replicas`` is the size of the gang."""
    if seen.true("Suspended"):
        return reason("held_by_queue")
    waiting = [pod for pod in seen.pods if pod.phase in ("Pending", "Unknown")]
    for pod in waiting:
        if found := pod_reasons.waiting(pod.replica, pod.reason, pod.message):
            return found
    running = sum(pod.phase in ("Running", "Succeeded") for pod in seen.pods)
    if running and running < replicas:
        return reason("some_running", running=running, total=replicas)
    return reason("starting")


def root_cause(pods: Sequence[PodFact]) -> PodFact | None:
    """Return the pod that failed first for a reason of its own, not one that others dragged along.

    Among pods that ended in the same moment the one with the more telling end counts: a reason from the node,
    then an ordinary exit code, then an abort, then signals from outside.
    """
    failed = [pod for pod in pods if pod.phase == "Failed" or pod.exit_code not in (None, 0)]
    if not failed:
        return None
    times = [pod.finished_at for pod in failed if pod.finished_at is not None]
    if times:
        edge = min(times) + SAME_MOMENT
        first = [pod for pod in failed if pod.finished_at is None or pod.finished_at <= edge]
    else:
        first = failed
    return min(first, key=lambda pod: (pod_reasons.weight(pod.exit_code, pod.reason), _rank(pod.replica)))


def _ended(current: str, seen: Observation) -> Derived | None:
    failed, succeeded = seen.true("Failed"), seen.true("Succeeded")
    if failed and succeeded and succeeded.at and failed.at and succeeded.at < failed.at:
        failed = None
    if failed:
        return _failed(current, seen, failed)
    if succeeded:
        return _finish("succeeded", seen, None, 0, "", succeeded.at)
    return None


def _failed(current: str, seen: Observation, condition: ConditionFact) -> Derived:
    if condition.reason == "PyTorchJobFailedValidation":
        said = reason("invalid_object", detail=condition.message)
        return _finish("failed", seen, said, None, "", condition.at)
    if "longer than specified deadline" in condition.message:
        return _finish("failed", seen, reason("time_limit"), None, "", condition.at)
    pod = root_cause(seen.pods)
    if pod is None:
        said = reason("failed", detail=condition.message or condition.reason)
        return _finish("failed", seen, said, None, "", condition.at)
    ran = current == "running" or pod.started_at is not None
    said = pod_reasons.ending(pod.replica, pod.exit_code, pod.reason, pod.message, ran=ran)
    return _finish("failed", seen, said, pod.exit_code, pod.replica, condition.at)


def _stopping(current: str, seen: Observation, stop: Stop) -> Derived:
    if not seen.gone:
        # Still there, still holding GPUs: say so until Kubernetes confirms that it is not.
        return Derived(current, started_at=_started(seen))
    status, code = STOPS[stop.kind]
    pod = root_cause(seen.pods)
    return _finish(status, seen, reason(code), pod.exit_code if pod else None, "")


def _going(current: str, seen: Observation) -> Derived:
    stuck = None
    for pod in seen.pods:
        if pod.phase == "Pending" and stuck is None:
            stuck = pod_reasons.hopeless(pod.replica, pod.reason, pod.message)
    status = current
    if seen.exists:
        status = _later(status, "pending")
    if seen.true("Running"):
        status = _later(status, "running")
    return Derived(status, started_at=_started(seen) if status == "running" else None, stuck=stuck)


def _later(one: str, other: str) -> str:
    return max(one, other, key=ORDER.__getitem__)


def _started(seen: Observation) -> datetime | None:
    """The moment from which all of the gang's pods ran, else of the condition."""
    times = [pod.started_at for pod in seen.pods if pod.started_at is not None]
    running = seen.true("Running")
    return max(times) if times else (running.at if running else None)


def _finish(
    status: str,
    seen: Observation,
    said: Reason | None,
    exit_code: int | None,
    replica: str,
    at: datetime | None = None,
) -> Derived:
    return Derived(status, said, exit_code, replica, _started(seen), at or seen.at)


def _rank(replica: str) -> tuple[int, int, str]:
    kind, _, index = replica.rpartition("-")
    return (kind != "master", int(index) if index.isdecimal() else 0, replica)
