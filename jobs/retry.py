"""Whether a failed run is tried again: infrastructure freely, user faults bounded, configuration never."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from jobs.reasons import Reason, reason

INFRASTRUCTURE_PER_DAY = 20
DAY = timedelta(hours=24)
BACKOFF_FIRST = timedelta(seconds=10)
BACKOFF_MOST = timedelta(minutes=30)

_INFRASTRUCTURE = {"node_lost", "evicted", "preempted", "refused_by_node", "terminated", "vanished"}
_INFRASTRUCTURE |= {"code_unreachable", "checkpoint_not_linked"}
_CONFIGURATION = {"code_refused", "invalid_object", "image", "container_config", "not_executable"}
_CONFIGURATION |= {"time_limit", "checkpoint_gone"}


class FailureClass(StrEnum):
    """Whose fault a failure is."""

    INFRASTRUCTURE = "infrastructure"
    USER = "user"
    CONFIGURATION = "configuration"


@dataclass(frozen=True, slots=True)
class FailureFacts:
    """What is known of a failed run: the code of its reason, and whether a node of it turned out broken."""

    reason: str
    exit_code: int | None = None
    node_failed: bool = False


@dataclass(frozen=True, slots=True)
class PastFailure:
    """An earlier failed run of the same job."""

    failure: FailureClass
    at: datetime


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a new run is made, the earliest moment for it, and why."""

    retry: bool
    at: datetime | None
    reason: Reason


def classify(facts: FailureFacts) -> FailureClass:
    """Return whose fault it is; what nobody can tell counts as the program's."""
    if facts.reason in _CONFIGURATION:
        return FailureClass.CONFIGURATION
    if facts.node_failed or facts.reason in _INFRASTRUCTURE:
        return FailureClass.INFRASTRUCTURE
    return FailureClass.USER


def decide(
    failure: FailureClass, history: Sequence[PastFailure], max_retries: int, now: datetime, jitter: float
) -> Decision:
    """Decide on the failure of now.

    ``history`` holds the earlier failures since the job was submitted or resumed by hand, this one not among
    them. ``jitter`` is random in [0, 1): the wait is between half and all of the backoff, so that runs which
    failed together do not come back together. Raises ValueError for a jitter outside.
    """
    if not 0 <= jitter < 1:
        raise ValueError("jitter is a number in [0, 1)")
    if failure is FailureClass.CONFIGURATION:
        return Decision(False, None, reason("never_retried"))
    same = [past for past in history if past.failure is failure]
    if failure is FailureClass.INFRASTRUCTURE:
        recent = sum(past.at > now - DAY for past in same)
        if recent >= INFRASTRUCTURE_PER_DAY:
            return Decision(False, None, reason("infrastructure_spent", limit=INFRASTRUCTURE_PER_DAY))
        said = reason("retry_infrastructure", count=recent + 1, limit=INFRASTRUCTURE_PER_DAY)
        return Decision(True, now + _backoff(recent, jitter), said)
    if max_retries == 0:
        return Decision(False, None, reason("no_retries"))
    if len(same) >= max_retries:
        return Decision(False, None, reason("user_spent", limit=max_retries))
    said = reason("retry_user", count=len(same) + 1, limit=max_retries)
    return Decision(True, now + _backoff(len(same), jitter), said)


def _backoff(earlier: int, jitter: float) -> timedelta:
    whole: timedelta = min(BACKOFF_FIRST * (1 << min(earlier, 20)), BACKOFF_MOST)
    return whole * (1 + jitter) / 2
