"""The operator's rules as pure functions: whatever pods do, a job moves forward and ends once."""

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from k8s.embedded import operator
from tests.k8s import manifests

START = datetime(2026, 5, 1, tzinfo=UTC)
LATER = {"Pending": ("Running", "Failed"), "Running": ("Succeeded", "Failed"), "Succeeded": (), "Failed": ()}


def job(workers: int, **policy: Any) -> dict[str, Any]:
    made = manifests.job("run-a", workers=workers, **policy)
    made["metadata"]["uid"] = "uid-1"
    return made


def true_conditions(status: dict[str, Any]) -> list[str]:
    return [c["type"] for c in status["conditions"] if c["status"] == "True"]


@given(
    workers=st.integers(0, 3), moves=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1)), max_size=20)
)
def test_a_job_ends_once_whatever_its_pods_do(workers: int, moves: list[tuple[int, int]]) -> None:
    made, now = job(workers), START
    first = operator.decide(made, {}, now)
    pods = {pod["metadata"]["name"]: pod for pod in first.create}
    assert len(pods) == workers + 1
    made["status"], end = first.status, None
    for which, choice in moves:
        pod = list(pods.values())[which % len(pods)]
        if options := LATER[pod["status"]["phase"]]:
            pod["status"] = {"phase": options[choice]}
        now += timedelta(seconds=1)
        found = operator.decide(made, pods, now)
        made["status"] = found.status
        assert not found.create
        ends = [kind for kind in true_conditions(found.status) if kind in operator.TERMINAL]
        assert len(ends) <= 1
        if end is not None:
            assert (ends, found.status["completionTime"]) == end
        elif ends:
            end = (ends, found.status["completionTime"])
            assert "Running" not in true_conditions(found.status)
        if ends:
            running = [n for n, p in pods.items() if p["status"]["phase"] not in operator.TERMINAL]
            assert sorted(found.delete) == sorted(running)
        master = pods["run-a-master-0"]["status"]["phase"]
        if ends == ["Succeeded"]:
            assert master == "Succeeded"
        if master == "Failed":
            assert ends


def test_deciding_twice_changes_nothing() -> None:
    made = job(1)
    first = operator.decide(made, {}, START)
    pods = {pod["metadata"]["name"]: pod for pod in first.create}
    for pod in pods.values():
        pod["status"] = {"phase": "Running"}
    made["status"] = first.status
    running = operator.decide(made, pods, START + timedelta(seconds=1))
    made["status"] = running.status
    again = operator.decide(made, pods, START + timedelta(hours=1))
    assert again.status == running.status
    assert not again.create
    assert not again.delete


def test_a_pod_that_was_taken_away_is_made_again() -> None:
    made = job(1)
    first = operator.decide(made, {}, START)
    made["status"] = first.status
    pods = {pod["metadata"]["name"]: pod for pod in first.create}
    del pods["run-a-worker-0"]
    (missing,) = operator.decide(made, pods, START).create
    assert missing["metadata"]["name"] == "run-a-worker-0"


def test_without_a_master_all_workers_must_succeed() -> None:
    made = job(2)
    del made["spec"]["pytorchReplicaSpecs"]["Master"]
    first = operator.decide(made, {}, START)
    made["status"] = first.status
    pods = {pod["metadata"]["name"]: pod for pod in first.create}
    assert pods["run-a-worker-0"]["metadata"]["labels"]["training.kubeflow.org/job-role"] == "master"
    pods["run-a-worker-0"]["status"] = {"phase": "Succeeded"}
    pods["run-a-worker-1"]["status"] = {"phase": "Running"}
    assert "Running" in true_conditions(operator.decide(made, pods, START).status)
    pods["run-a-worker-1"]["status"] = {"phase": "Succeeded"}
    assert "Succeeded" in true_conditions(operator.decide(made, pods, START).status)


def test_the_deadline_counts_from_the_start() -> None:
    made = job(0, activeDeadlineSeconds=60)
    first = operator.decide(made, {}, START)
    assert first.again == START + timedelta(seconds=60)
    made["status"] = first.status
    before = operator.decide(made, {}, START + timedelta(seconds=59))
    assert true_conditions(before.status) == ["Created"]
    after = operator.decide(made, {}, START + timedelta(seconds=60))
    assert true_conditions(after.status) == ["Created", "Failed"]
