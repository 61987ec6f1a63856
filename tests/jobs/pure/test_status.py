"""Runs move forward only, and the replica that failed first for a reason of its own is named."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs import status
from jobs.reasons import SENTENCES, Reason
from jobs.status import ConditionFact, Derived, Observation, PodFact, Stop
from k8s import types as k8s

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


def at(seconds: int) -> datetime:
    return NOW + timedelta(seconds=seconds)


def seen(*conditions: str | ConditionFact, pods: tuple[PodFact, ...] = (), **more: Any) -> Observation:
    facts = tuple(
        one if isinstance(one, ConditionFact) else ConditionFact(one, f"PyTorchJob{one}", "", at(0))
        for one in conditions
    )
    return Observation(at(60), conditions=facts, pods=pods, **more)


def dead(replica: str, exit_code: int | None, ended: int = 0, reason: str = "", **more: Any) -> PodFact:
    return PodFact(replica, "Failed", exit_code, reason, started_at=at(-50), finished_at=at(ended), **more)


def code_of(derived: Derived) -> str:
    assert derived.reason is not None
    return derived.reason.code


@pytest.mark.parametrize(
    ("current", "conditions", "expected"),
    [
        ("launching", [], "pending"),
        ("launching", ["Created"], "pending"),
        ("pending", ["Created", "Running"], "running"),
        ("running", ["Created"], "running"),
        ("running", ["Created", "Restarting"], "running"),
        ("running", ["Created", "Suspended"], "running"),
        ("pending", ["Created", "Suspended"], "pending"),
        ("running", ["Created", "Succeeded"], "succeeded"),
        ("launching", ["Created", "Succeeded"], "succeeded"),
        ("running", ["Created", "Failed"], "failed"),
        ("succeeded", ["Created", "Failed"], "succeeded"),
    ],
)
def test_conditions_move_a_run(current: str, conditions: list[str], expected: str) -> None:
    assert status.derive(current, seen(*conditions)).status == expected


def test_the_first_of_two_final_conditions_counts() -> None:
    good, bad = ConditionFact("Succeeded", at=at(1)), ConditionFact("Failed", at=at(5))
    assert status.derive("running", seen(good, bad)).status == "succeeded"
    assert status.derive("running", seen(bad, ConditionFact("Succeeded", at=at(9)))).status == "failed"


def test_false_conditions_of_the_port_are_left_out() -> None:
    conditions = (
        k8s.Condition("Created", True, "PyTorchJobCreated", "", at(0)),
        k8s.Condition("Running", False, "PyTorchJobSuspended", "", at(1)),
    )
    job = k8s.PyTorchJobInfo("run-1", "clu-1", "u", "1", conditions=conditions)
    pod = k8s.PodInfo(
        "run-1-master-0", "clu-1", "p", {}, "run-1", "master-0", "Pending", "Unschedulable", "no"
    )
    found = status.observation(job, [pod], NOW)
    assert status.derive("pending", found).status == "pending"
    assert found.pods[0].reason == "Unschedulable"
    assert status.observation(None, [], NOW).gone


@pytest.mark.parametrize(
    ("pods", "replica", "exit_code", "code"),
    [
        ([dead("master-0", 1)], "master-0", 1, "exit_code"),
        ([dead("master-0", 1, ended=9), dead("worker-1", 3, ended=2)], "worker-1", 3, "exit_code"),
        ([dead("master-0", 134, ended=1), dead("worker-0", 1, ended=2)], "worker-0", 1, "exit_code"),
        ([dead("master-0", 143, ended=0), dead("worker-0", 1, ended=1)], "worker-0", 1, "exit_code"),
        ([dead("master-0", 1), dead("worker-0", 137, 1, "OOMKilled")], "worker-0", 137, "out_of_memory"),
        ([dead("worker-0", 137)], "worker-0", 137, "killed"),
        ([dead("worker-0", 143)], "worker-0", 143, "terminated"),
        ([dead("worker-0", 139)], "worker-0", 139, "crashed"),
        ([dead("worker-0", 134)], "worker-0", 134, "aborted"),
        ([dead("worker-0", 127)], "worker-0", 127, "not_executable"),
        ([dead("worker-0", None, reason="NodeLost")], "worker-0", None, "node_lost"),
        ([dead("worker-0", 137, reason="Terminated")], "worker-0", 137, "node_lost"),
        ([dead("worker-0", None, reason="Evicted", message="disk")], "worker-0", None, "evicted"),
        ([dead("worker-0", None, reason="OutOfnvidia.com/gpu")], "worker-0", None, "refused_by_node"),
        ([dead("worker-0", None, reason="Preempting")], "worker-0", None, "preempted"),
        ([dead("w", 78, message="x\nberth fetch: no zip")], "w", 78, "code_refused"),
        ([dead("w", 75, message="berth fetch: away")], "w", 75, "code_unreachable"),
        ([dead("w", 66, message="x\nberth link: it is gone")], "w", 66, "checkpoint_gone"),
        ([dead("w", 74, message="berth link: no room")], "w", 74, "checkpoint_not_linked"),
        ([dead("w", 66, message="my own 66")], "w", 66, "exit_code"),
        ([dead("worker-10", 1), dead("worker-2", 1)], "worker-2", 1, "exit_code"),
    ],
)
def test_the_root_cause_is_named(pods: list[PodFact], replica: str, exit_code: int | None, code: str) -> None:
    derived = status.derive("running", seen("Failed", pods=tuple(pods)))
    assert (derived.replica, derived.exit_code, code_of(derived)) == (replica, exit_code, code)
    assert str(derived.reason)


def test_an_exit_of_78_after_the_start_is_the_programs_own() -> None:
    assert code_of(status.derive("running", seen("Failed", pods=(dead("master-0", 78),)))) == "exit_code"


def test_failures_without_pods_say_what_the_operator_said() -> None:
    limit = ConditionFact("Failed", "PyTorchJobFailed", "x is active longer than specified deadline", at(1))
    assert code_of(status.derive("running", seen(limit))) == "time_limit"
    refused = ConditionFact("Failed", "PyTorchJobFailedValidation", "bad name", at(1))
    assert code_of(status.derive("pending", seen(refused))) == "invalid_object"
    derived = status.derive("running", seen(ConditionFact("Failed", message="boom 100%", at=at(1))))
    assert str(derived.reason) == "The run failed: boom 100%"


def test_a_stopped_run_is_final_only_when_nothing_is_left() -> None:
    living = PodFact("master-0", "Running")
    stop = Stop("cancelled", at(10))
    assert status.derive("running", seen("Running", deleted=True), stop).status == "running"
    assert status.derive("running", seen(exists=False, pods=(living,)), stop).status == "running"
    gone = status.derive("running", seen(exists=False, pods=(dead("master-0", 143),)), stop)
    assert (gone.status, gone.exit_code, code_of(gone)) == ("cancelled", 143, "cancelled")
    assert status.derive("launching", seen(exists=False), stop).status == "cancelled"


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("suspended", "suspended"),
        ("deadline", "failed"),
        ("cluster", "cancelled"),
        ("cancelled", "cancelled"),
    ],
)
def test_each_stop_has_its_final_status(kind: str, expected: str) -> None:
    derived = status.derive("running", seen(exists=False), Stop(kind, at(0)))
    assert derived.status == expected
    assert derived.finished_at == at(60)


def test_who_ended_first_decides_between_an_end_and_a_stop() -> None:
    done = ConditionFact("Succeeded", at=at(5))
    assert status.derive("running", seen(done), Stop("cancelled", at(6))).status == "succeeded"
    assert status.derive("running", seen(done), Stop("cancelled", at(4))).status == "running"


def test_an_object_deleted_by_others_is_a_failure() -> None:
    assert code_of(status.derive("running", seen(exists=False))) == "vanished"
    assert status.derive("launching", seen(exists=False)).status == "launching"


@pytest.mark.parametrize(
    ("cause", "message", "stuck", "words"),
    [
        ("InvalidImageName", "bad", "image", "image"),
        ("ErrImagePull", "manifest unknown", "image", "image"),
        ("ImagePullBackOff", "timeout", None, "pulling_image"),
        ("CreateContainerConfigError", "secret missing", "container_config", "container_config"),
        ("Unschedulable", "0/3 nodes are available", None, "no_node"),
        ("PodInitializing", "", None, "fetching_code"),
        ("", "", None, "starting"),
    ],
)
def test_what_a_pending_run_waits_for(cause: str, message: str, stuck: str | None, words: str) -> None:
    found = seen("Created", pods=(PodFact("master-0", "Pending", reason=cause, message=message),))
    derived = status.derive("pending", found)
    assert (derived.stuck.code if derived.stuck else None) == stuck
    why = status.why_pending(found, 1)
    assert why.code == words
    assert str(why)


def test_a_gang_that_has_not_come_together_says_so() -> None:
    pods = (PodFact("master-0", "Running"), PodFact("worker-0", "Pending"))
    assert str(status.why_pending(seen("Created", pods=pods), 2)) == "1 of 2 replicas are running."
    assert status.why_pending(seen("Created", "Suspended"), 2).code == "held_by_queue"


def test_a_gang_starts_when_its_last_pod_does() -> None:
    pods = (
        PodFact("master-0", "Running", started_at=at(1)),
        PodFact("worker-0", "Running", started_at=at(7)),
    )
    assert status.derive("pending", seen("Running", pods=pods)).started_at == at(7)


REPLICAS = st.sampled_from(["master-0", "worker-0", "worker-1", "odd", "x-²"])
TIMES = st.none() | st.integers(-100, 100).map(at)
PODS = st.builds(
    PodFact,
    replica=REPLICAS,
    phase=st.sampled_from(["Pending", "Running", "Succeeded", "Failed", "Unknown"]),
    exit_code=st.none() | st.sampled_from([0, 1, 75, 78, 126, 134, 137, 143, 255, -9]),
    reason=st.sampled_from(
        ["", "Error", "OOMKilled", "Evicted", "NodeLost", "ErrImagePull", "Unschedulable"]
    ),
    message=st.text(max_size=30) | st.just("x" * 2000) | st.just("berth fetch: 100%"),
    started_at=TIMES,
    finished_at=TIMES,
)
CONDITIONS = st.builds(
    ConditionFact,
    type=st.sampled_from(["Created", "Running", "Restarting", "Suspended", "Succeeded", "Failed"]),
    reason=st.sampled_from(["", "PyTorchJobFailedValidation"]),
    message=st.text(max_size=30),
    at=TIMES,
)
SEEN = st.builds(
    Observation,
    at=st.integers(0, 100).map(at),
    exists=st.booleans(),
    deleted=st.booleans(),
    conditions=st.lists(CONDITIONS, max_size=5).map(tuple),
    pods=st.lists(PODS, max_size=4).map(tuple),
)
STOPS = st.none() | st.builds(Stop, st.sampled_from(sorted(status.STOPS)), st.integers(-9, 99).map(at))


@given(st.lists(st.tuples(SEEN, STOPS), max_size=8))
def test_whatever_is_seen_a_run_never_moves_back(steps: list[tuple[Observation, Stop | None]]) -> None:
    current = "launching"
    for found, stop in steps:
        derived = status.derive(current, found, stop)
        if current in status.FINAL:
            assert derived.status == current
        elif derived.status not in status.FINAL:
            assert status.ORDER[derived.status] >= status.ORDER[current]
        else:
            assert derived.finished_at is not None
            assert derived.status == "succeeded" or 0 < len(str(derived.reason)) <= 500
        assert len(str(status.why_pending(found, 4))) <= 500
        current = derived.status


def test_what_a_database_cannot_hold_is_left_out_of_reasons() -> None:
    log = "Traceback\n\x1b[31mboom\0 \ud800 训练" + "x" * 9000
    pods = (dead("master-0", None, reason="Evicted", message=log),)
    for found in (seen("Failed", pods=pods), seen(ConditionFact("Failed", message=log, at=at(1)))):
        said = status.derive("running", found).reason
        assert said is not None
        detail = said.values["detail"]
        assert isinstance(detail, str)
        assert detail.isprintable()
        assert detail.startswith("Traceback")
        assert "训练" in detail
        assert len(detail) <= 500


def test_unknown_words_are_refused() -> None:
    with pytest.raises(ValueError, match="unknown status"):
        status.derive("lost", seen())
    with pytest.raises(ValueError, match="unknown reason"):
        Reason("nonsense")
    assert all(sentence.endswith((".", ")s")) for sentence in SENTENCES.values())
