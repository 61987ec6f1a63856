"""Sentences of a job's timeline, and stored reasons said in the reader's language."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext, gettext_noop, pgettext

from jobs.reasons import SENTENCES, Reason

EVENTS = {
    "submitted": gettext_noop("Submitted: %(replicas)s replicas × %(gpus)s GPUs."),
    "admitted": gettext_noop("Run %(run)s has its GPUs: %(placement)s."),
    "launched": gettext_noop("Run %(run)s was handed to the site."),
    "launch_delayed": gettext_noop("The site did not take run %(run)s yet: %(detail)s"),
    "running": gettext_noop("Run %(run)s is running."),
    "succeeded": gettext_noop("Run %(run)s succeeded."),
    "failed": gettext_noop("Run %(run)s failed. %(reason)s"),
    "retry": gettext_noop("Run %(run)s will follow. %(reason)s"),
    "not_retried": gettext_noop("%(reason)s"),
    "cancel_asked": gettext_noop("Cancellation asked for: SIGTERM, and time for a checkpoint."),
    "suspend_asked": gettext_noop("Suspension asked for: SIGTERM, and time for a checkpoint."),
    "deadline": gettext_noop("The time limit of %(seconds)s seconds is reached; the replicas get SIGTERM."),
    "cluster_ends": gettext_noop("The cluster's lease ends: SIGTERM, and time for a checkpoint."),
    "cancelled": gettext_noop("Cancelled. %(reason)s"),
    "suspended": gettext_noop("Suspended; its GPUs are free. Resume continues from the newest checkpoint."),
    "resumed": gettext_noop("Resumed as run %(run)s from step %(step)s."),
    "restarted": gettext_noop("Resumed as run %(run)s from the start: there is no complete checkpoint."),
    "checkpoints_removed": gettext_noop(
        "Older checkpoints were removed (the job keeps its last %(keep)s), of step: %(steps)s"
    ),
    "checkpoint": gettext_noop("Checkpoint of step %(step)s is complete."),
}


def store(reason: Reason | None) -> dict[str, Any] | None:
    """Return the stored form of a reason."""
    return None if reason is None else {"code": reason.code, "values": dict(reason.values)}


def message(why: Mapping[str, Any] | None) -> dict[str, Any] | str:
    """Return a stored reason as a message that a notification says in each reader's language."""
    return "" if not why else {"sentence": SENTENCES[why["code"]], "values": why["values"]}


def say(why: Mapping[str, Any] | None) -> str:
    """Return a stored reason as a sentence in the active language, empty for none."""
    return "" if not why else str(Reason(why["code"], why["values"]))


def state(status: str) -> str:
    """Return the word for the state of a job."""
    word = "starting" if status == "pending" else status
    return pgettext("state of a job", word)


def event(kind: str, values: Mapping[str, Any]) -> str:
    """Return the sentence of an event of a timeline."""
    said = {name: say(value) if isinstance(value, dict) else value for name, value in values.items()}
    return (gettext(EVENTS[kind]) % said).strip()
