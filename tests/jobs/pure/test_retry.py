"""Retries: infrastructure is free up to 20 a day, user faults are bounded, configuration is never retried."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs import retry
from jobs.reasons import SENTENCES
from jobs.retry import FailureClass, FailureFacts, PastFailure

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
INFRASTRUCTURE, USER, CONFIGURATION = FailureClass


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (FailureFacts("exit_code", 1), USER),
        (FailureFacts("exit_code", 1, node_failed=True), INFRASTRUCTURE),
        (FailureFacts("out_of_memory", 137), USER),
        (FailureFacts("killed", 137), USER),
        (FailureFacts("aborted", 134), USER),
        (FailureFacts("terminated", 143), INFRASTRUCTURE),
        (FailureFacts("node_lost"), INFRASTRUCTURE),
        (FailureFacts("evicted"), INFRASTRUCTURE),
        (FailureFacts("vanished"), INFRASTRUCTURE),
        (FailureFacts("code_unreachable", 75), INFRASTRUCTURE),
        (FailureFacts("code_refused", 78), CONFIGURATION),
        (FailureFacts("checkpoint_gone", 66), CONFIGURATION),
        (FailureFacts("checkpoint_not_linked", 74), INFRASTRUCTURE),
        (FailureFacts("image"), CONFIGURATION),
        (FailureFacts("invalid_object"), CONFIGURATION),
        (FailureFacts("not_executable", 127, node_failed=True), CONFIGURATION),
        (FailureFacts("time_limit"), CONFIGURATION),
    ],
)
def test_whose_fault_it_is(facts: FailureFacts, expected: FailureClass) -> None:
    assert facts.reason in SENTENCES
    assert retry.classify(facts) is expected


def past(failure: FailureClass, count: int, hours_ago: float = 1) -> list[PastFailure]:
    return [PastFailure(failure, NOW - timedelta(hours=hours_ago))] * count


def test_infrastructure_is_free_twenty_times_in_24_hours() -> None:
    assert retry.decide(INFRASTRUCTURE, past(INFRASTRUCTURE, 19), 0, NOW, 0).retry
    spent = retry.decide(INFRASTRUCTURE, past(INFRASTRUCTURE, 20), 5, NOW, 0)
    assert not spent.retry
    assert "20 times" in str(spent.reason)
    assert retry.decide(INFRASTRUCTURE, past(INFRASTRUCTURE, 20, hours_ago=25), 0, NOW, 0).retry


def test_user_faults_are_bounded_by_max_retries_alone() -> None:
    assert retry.decide(USER, past(USER, 2) + past(INFRASTRUCTURE, 9), 3, NOW, 0).retry
    assert not retry.decide(USER, past(USER, 3, hours_ago=99), 3, NOW, 0).retry
    assert str(retry.decide(USER, [], 0, NOW, 0).reason) == "Not tried again: the job has max_retries 0."


@given(
    failure=st.sampled_from(FailureClass),
    infrastructure=st.integers(0, 40),
    user=st.integers(0, 40),
    max_retries=st.integers(0, 20),
    jitter=st.floats(0, 1, exclude_max=True),
)
def test_a_decision_has_a_moment_if_it_is_a_retry(
    failure: FailureClass, infrastructure: int, user: int, max_retries: int, jitter: float
) -> None:
    history = past(INFRASTRUCTURE, infrastructure) + past(USER, user)
    decision = retry.decide(failure, history, max_retries, NOW, jitter)
    assert decision.retry == (decision.at is not None)
    assert str(decision.reason)
    if decision.at is not None:
        assert retry.BACKOFF_FIRST / 2 <= decision.at - NOW <= retry.BACKOFF_MOST
    if failure is CONFIGURATION:
        assert not decision.retry


def test_waits_grow_and_have_an_end() -> None:
    waits = []
    for count in range(20):
        decision = retry.decide(INFRASTRUCTURE, past(INFRASTRUCTURE, count), 0, NOW, 0)
        assert decision.at is not None
        waits.append(decision.at - NOW)
    assert waits == sorted(waits)
    assert waits[0] == timedelta(seconds=5)
    assert waits[-1] == retry.BACKOFF_MOST / 2
    with pytest.raises(ValueError, match="jitter"):
        retry.decide(USER, [], 1, NOW, 1.0)
