"""Each rule with what it must see and with what it must not take for it."""

import pytest

from jobs import findings

OOM = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of"
    " 79.11 GiB of which 5.25 MiB is free."
)
OLD_OOM = "RuntimeError: CUDA out of memory. Tried to allocate 368.20 MiB (GPU 0; 15.90 GiB total capacity)"
NAN = "ValueError: loss is nan at step 120, stopping"


def ended(*texts: str, exit_code: int | None = 1, **fields: bool) -> findings.Ended:
    how = {"failed": True, "stopped": False, "infrastructure": False} | fields
    lines = [findings.Line(n, "master-0", text) for n, text in enumerate(texts, 1)]
    return findings.Ended(exit_code=exit_code, lines=lines, **how)


@pytest.mark.parametrize(
    ("run", "codes"),
    [
        (ended("step: 1 loss: 2.0", OOM), ["cuda_oom"]),
        (ended(OLD_OOM, exit_code=None), ["cuda_oom"]),
        (ended("step: 1 loss: 2.0", exit_code=137), ["host_oom"]),
        (ended(exit_code=137), ["host_oom"]),
        (ended(NAN), ["not_finite"]),
        (ended("RuntimeError: Gradient norm is inf"), ["not_finite"]),
        (ended("AssertionError: loss must not be NaN"), ["not_finite"]),
        # a program that caught it and went on, was stopped, or only speaks of it
        (ended(OOM, failed=False, exit_code=0), []),
        (ended(OOM, stopped=True, exit_code=143), []),
        (ended("hint: lower the batch if you see CUDA out of memory."), []),
        (ended("ValueError: wrong shape"), []),
        (ended(exit_code=1), []),
        # the node went, not the memory
        (ended(exit_code=137, infrastructure=True), []),
        (ended(exit_code=137, stopped=True), []),
        # numbers in a log are no crash, and words that hold others are no numbers
        (ended("step: 7 loss: nan grad_norm: inf"), []),
        (ended("ValueError: loss of finance data in banana.csv"), []),
        (ended("ValueError: no information about the loss"), []),
    ],
)
def test_what_is_found(run: findings.Ended, codes: list[str]) -> None:
    found = findings.find(run)
    assert [one.code for one in found] == codes
    assert all(one.code in findings.WORDS for one in found)


def test_the_lines_that_show_it_are_named_and_few() -> None:
    (found,) = findings.find(ended("fine", *[OOM] * 20))
    assert [line.n for line in found.evidence] == [2, 3, 4]
