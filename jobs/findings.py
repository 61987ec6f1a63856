"""What went wrong in training, read from how a run ended and what its log says. Pure; a rule each.

A false alarm is worse than silence: a rule speaks only when a run has failed by itself and the log, or the
exit code, leaves no doubt.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

LINES = 2000  # of the end of a log; a failure stands near it
EVIDENCE = 3  # lines that are shown

# what the caching allocator of PyTorch says, in all versions since 1.0
_CUDA_OOM = re.compile(r"CUDA out of memory\. Tried to allocate [\d.]+ [KMGT]i?B")
_NOT_FINITE = re.compile(r"(?i)(?:Error|Exception)\b.*\b(?:loss|grad\w*)\b.*\b(?:nan|inf|infinite)\b")
KILLED = 137  # 128 + SIGKILL


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a replica's log; `n` counts within it."""

    n: int
    replica: str
    text: str


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended.

    `stopped`: Berth or a person asked it to; `infrastructure`: its node or site failed.
    """

    failed: bool
    stopped: bool
    infrastructure: bool
    exit_code: int | None
    lines: Sequence[Line]


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding with the lines that show it."""

    code: str
    evidence: tuple[Line, ...]


def find(ended: Ended) -> list[Finding]:
    """Return what is certain about a run, the cause first; nothing of one that did not fail by itself."""
    if not ended.failed or ended.stopped:
        return []
    found = [rule(ended) for rule in _RULES]
    return [one for one in found if one is not None]


def _cuda_oom(ended: Ended) -> Finding | None:
    lines = tuple(line for line in ended.lines if _CUDA_OOM.search(line.text))[:EVIDENCE]
    return Finding("cuda_oom", lines) if lines else None


def _host_oom(ended: Ended) -> Finding | None:
    killed = ended.exit_code == KILLED and not ended.infrastructure
    return Finding("host_oom", tuple(ended.lines[-1:])) if killed else None


def _not_finite(ended: Ended) -> Finding | None:
    lines = tuple(line for line in ended.lines if _NOT_FINITE.search(line.text))[:EVIDENCE]
    return Finding("not_finite", lines) if lines else None


_RULES: tuple[Callable[[Ended], Finding | None], ...] = (_cuda_oom, _host_oom, _not_finite)

# code: severity, title, advice, source
WORDS: dict[str, tuple[str, str | Promise, str | Promise, str]] = {
    "cuda_oom": (
        "critical",
        _("The GPU ran out of memory"),
        _(
            "Halve the batch per GPU and double gradient accumulation; turn activation checkpointing on; or"
            " shard optimiser and weights over the GPUs (FSDP or ZeRO)."
        ),
        "PyTorch, torch.cuda.OutOfMemoryError",
    ),
    "host_oom": (
        "critical",
        _("The process was killed, most likely because the server ran out of memory"),
        _(
            "Use fewer workers of the data loader, read the data as a stream instead of as a whole, and check"
            " that checkpoints are not gathered on one process."
        ),
        "Linux, SIGKILL by the memory limit: exit code 137",
    ),
    "not_finite": (
        "critical",
        _("The program stopped because a value was not finite"),
        _(
            "Go back to the checkpoint before it; lower the learning rate or lengthen its warm-up, clip the"
            " gradients, and use bf16 instead of fp16."
        ),
        "the program's own check",
    ),
}
