"""Why something is as it is: a stable code and the values of its sentence, said in the reader's language."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from django.utils.translation import gettext, gettext_noop

MAX_LENGTH = 500

SENTENCES = {
    # How a run ended.
    "exit_code": gettext_noop("%(replica)s ended with exit code %(exit_code)s."),
    "out_of_memory": gettext_noop(
        "%(replica)s was killed because it used more memory than it may (OOMKilled). "
        "Lower the batch size, the number of data workers or what is cached in memory."
    ),
    "killed": gettext_noop(
        "%(replica)s was killed from outside (SIGKILL, exit code 137), often because the node ran out of "
        "memory. Look at the memory that data loaders take."
    ),
    "terminated": gettext_noop("%(replica)s was stopped from outside (SIGTERM, exit code 143)."),
    "aborted": gettext_noop(
        "%(replica)s aborted (SIGABRT, exit code 134). After a timeout of collectives this is a consequence: "
        "look for the first replica with another error."
    ),
    "crashed": gettext_noop("%(replica)s crashed in native code (SIGSEGV, exit code 139)."),
    "not_executable": gettext_noop(
        "%(replica)s could not start its command (exit code %(exit_code)s). "
        "Check that the program exists in the environment and may be executed."
    ),
    "node_lost": gettext_noop("The node of %(replica)s was lost (%(detail)s)."),
    "evicted": gettext_noop("%(replica)s was evicted from its node: %(detail)s"),
    "preempted": gettext_noop("%(replica)s had to give way on its node (%(detail)s)."),
    "refused_by_node": gettext_noop("The node refused %(replica)s: %(detail)s"),
    "code_refused": gettext_noop("The code could not be fetched: %(detail)s"),
    "code_unreachable": gettext_noop("The place of the code did not answer: %(detail)s"),
    "checkpoint_gone": gettext_noop(
        "%(replica)s has nothing to start from: %(detail)s. Resume from another checkpoint."
    ),
    "checkpoint_not_linked": gettext_noop(
        "%(replica)s could not bring its checkpoint into its own folder: %(detail)s"
    ),
    "failed": gettext_noop("The run failed: %(detail)s"),
    "invalid_object": gettext_noop("The training operator refused the job: %(detail)s"),
    "time_limit": gettext_noop("The run reached its time limit."),
    "vanished": gettext_noop("The run's object was deleted on the cluster, not by Berth."),
    "cluster_ended": gettext_noop("The cluster's lease ended."),
    "cancelled": gettext_noop("Cancelled."),
    "suspended": gettext_noop("Suspended."),
    # Why a run cannot start at all.
    "image": gettext_noop("The image of %(replica)s cannot be used (%(cause)s): %(detail)s"),
    "container_config": gettext_noop("%(replica)s cannot be created (%(cause)s): %(detail)s"),
    "launch_refused": gettext_noop("The site refused the job: %(detail)s"),
    "secret_gone": gettext_noop("The secret %(name)s that the job names does not exist any more."),
    "never_started": gettext_noop("Not all replicas were up within %(minutes)s minutes."),
    "cluster_over": gettext_noop("The cluster's lease ended before the job could start."),
    # What is under way with a run that still holds its GPUs.
    "being_cancelled": gettext_noop("Being cancelled: waits until its replicas have ended."),
    "being_suspended": gettext_noop("Being suspended: waits until its replicas have ended."),
    "being_stopped": gettext_noop("The time limit is reached: waits until its replicas have ended."),
    "being_drained": gettext_noop("The cluster's lease ends: waits until its replicas have ended."),
    "launching": gettext_noop("It has its GPUs and is being handed to the site."),
    # Why a run is not running yet.
    "starting": gettext_noop("The pods are being created."),
    "fetching_code": gettext_noop("%(replica)s is fetching its code."),
    "pulling_image": gettext_noop("%(replica)s is waiting for its image (%(cause)s)."),
    "no_node": gettext_noop("No node has room for %(replica)s: %(detail)s"),
    "some_running": gettext_noop("%(running)s of %(total)s replicas are running."),
    "held_by_queue": gettext_noop("The site's own queue holds the job back."),
    # Whether a failed run is tried again.
    "retry_infrastructure": gettext_noop(
        "Not your code's fault: tried again, free of your retries (%(count)s of %(limit)s in 24 hours)."
    ),
    "infrastructure_spent": gettext_noop(
        "Failed %(limit)s times within 24 hours without fault of your code; not tried again by itself. "
        "Support has been told; resume the job when the cluster is well."
    ),
    "retry_user": gettext_noop("Tried again: retry %(count)s of %(limit)s."),
    "user_spent": gettext_noop("Not tried again: all %(limit)s retries are used."),
    "no_retries": gettext_noop("Not tried again: the job has max_retries 0."),
    "never_retried": gettext_noop("Not tried again: the same run would fail the same way."),
    # Why a job waits in the queue.
    "admitted": gettext_noop("There is room now."),
    "behind": gettext_noop("%(count)s jobs are ahead in the queue."),
    "behind_one": gettext_noop("One job is ahead in the queue."),
    "waits_for_gpus": gettext_noop("Needs %(needed)s GPUs; %(free)s are free now."),
    "waits_for_nodes": gettext_noop(
        "Enough GPUs are free, but not %(gpus_per_replica)s on each of enough nodes: room for "
        "%(room)s of %(replicas)s replicas."
    ),
    "kept_for_head": gettext_noop(
        "Would fit now, but might delay the job at the head of the queue. "
        "A shorter max_runtime_seconds lets it slip in."
    ),
    "no_backfill_without_limit": gettext_noop(
        "Would fit now, but has no time limit and might delay the job at the head of the queue."
    ),
    "too_large": gettext_noop("Needs more than the whole cluster."),
    "not_yet": gettext_noop("Waits until its next try."),
    "cluster_not_ready": gettext_noop("The cluster is not ready."),
}


@dataclass(frozen=True, slots=True)
class Reason:
    """A code of ``SENTENCES`` and the values that its sentence names."""

    code: str
    values: Mapping[str, str | int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.code not in SENTENCES:
            raise ValueError(f"unknown reason {self.code!r}")

    def __str__(self) -> str:
        """The sentence in the active language, at most ``MAX_LENGTH`` characters."""
        sentence = gettext(SENTENCES[self.code]) % self.values
        return sentence if len(sentence) <= MAX_LENGTH else sentence[: MAX_LENGTH - 1] + "…"


def reason(code: str, **values: str | int) -> Reason:
    """Build a reason; values are what the sentence of ``code`` names.

    Texts come from clusters and customers' programs: what a database or a page cannot hold is replaced.
    """
    return Reason(code, {name: _plain(value) for name, value in values.items()})


def _plain(value: str | int) -> str | int:
    if not isinstance(value, str):
        return value
    return "".join(sign if sign.isprintable() else " " for sign in value[:MAX_LENGTH])
