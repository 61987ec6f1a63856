"""The pure parts of the embedded site: placement, rewriting, and Kubernetes JSON read as values."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from k8s import convert
from k8s.embedded import rewrite, scheduler

GPU = "nvidia.com/gpu"
MOUNTS = {"/data": "/real/claims/data", "/data/cache": "/real/cache", "/workspace": "/real/code"}


def pod(name: str, gpus: int, **spec: Any) -> dict[str, Any]:
    container = {"name": "pytorch", "resources": {"limits": {GPU: str(gpus), "cpu": "4"}}}
    return {"metadata": {"name": name}, "spec": {"containers": [container], **spec}}


def node(name: str, gpus: int, *, taint: str = "", **labels: str) -> dict[str, Any]:
    taints = [{"key": "berth.dev/cluster", "value": taint, "effect": "NoSchedule"}] if taint else []
    return {
        "metadata": {"name": name, "labels": labels},
        "spec": {"taints": taints},
        "status": {"allocatable": {GPU: str(gpus)}},
    }


@given(
    sizes=st.lists(st.integers(0, 8), min_size=1, max_size=8),
    free=st.lists(st.integers(0, 8), min_size=1, max_size=6),
)
def test_a_placement_never_oversells_and_is_all_or_nothing(sizes: list[int], free: list[int]) -> None:
    gang = [pod(f"p{n}", size) for n, size in enumerate(sizes)]
    nodes = [node(f"n{n}", 8) for n in range(len(free))]
    used = {f"n{n}": Counter({GPU: 8 - left}) for n, left in enumerate(free)}
    found = scheduler.place(gang, nodes, used)
    if found.nodes is None:
        assert found.reason
        assert sum(free) < sum(sizes) or max(sizes) > min(free)
        return
    assert set(found.nodes) == {f"p{n}" for n in range(len(sizes))}
    for number, left in enumerate(free):
        assert sum(s for n, s in enumerate(sizes) if found.nodes[f"p{n}"] == f"n{number}") <= left


@given(replicas=st.integers(1, 12), size=st.integers(1, 8), free=st.lists(st.integers(0, 8), max_size=6))
def test_equal_replicas_fit_exactly_when_the_sum_of_floors_says_so(
    replicas: int, size: int, free: list[int]
) -> None:
    gang = [pod(f"p{n}", size) for n in range(replicas)]
    nodes = [node(f"n{n}", left) for n, left in enumerate(free)]
    fits = sum(left // size for left in free) >= replicas
    assert (scheduler.place(gang, nodes, {}).nodes is not None) == fits


def test_taints_need_a_toleration() -> None:
    nodes = [node("n1", 8, taint="clu-a")]
    equal = [{"key": "berth.dev/cluster", "operator": "Equal", "value": "clu-a", "effect": "NoSchedule"}]
    other = [{**equal[0], "value": "clu-b"}]
    anything = [{"operator": "Exists"}]
    assert scheduler.place([pod("p", 1)], nodes, {}).nodes is None
    assert scheduler.place([pod("p", 1, tolerations=other)], nodes, {}).nodes is None
    assert scheduler.place([pod("p", 1, tolerations=equal)], nodes, {}).nodes == {"p": "n1"}
    assert scheduler.place([pod("p", 1, tolerations=anything)], nodes, {}).nodes == {"p": "n1"}


def test_cordoned_and_other_nodes_are_left_out() -> None:
    cordoned = node("n1", 8, pool="a")
    cordoned["spec"]["unschedulable"] = True
    nodes = [cordoned, node("n2", 8, pool="b")]
    assert scheduler.place([pod("p", 1, nodeSelector={"pool": "a"})], nodes, {}).nodes is None
    assert scheduler.place([pod("p", 1, nodeSelector={"pool": "b"})], nodes, {}).nodes == {"p": "n2"}


@pytest.mark.parametrize(
    ("text", "real"),
    [
        ("/data", "/real/claims/data"),
        ("/data/", "/real/claims/data/"),
        ("/data/a b/ä", "/real/claims/data/a b/ä"),
        ("/data/cache/x", "/real/cache/x"),
        ("/database", "/database"),
        ("data/x", "data/x"),
        ("s3://data/x", "s3://data/x"),
        ("", ""),
        ("/workspace:/data:", "/real/code:/real/claims/data:"),
        ("host:/data", "host:/data"),
    ],
)
def test_values_below_a_mount_become_real(text: str, real: str) -> None:
    assert rewrite.value(text, MOUNTS) == real


@pytest.mark.parametrize(
    ("text", "real"),
    [
        ("--out=/data/x", "--out=/real/claims/data/x"),
        ("-o=/data", "-o=/real/claims/data"),
        ("out=/data", "out=/data"),
        ("cat /data/x", "cat /data/x"),
        ("/workspace/main.py", "/real/code/main.py"),
    ],
)
def test_arguments_below_a_mount_become_real(text: str, real: str) -> None:
    assert rewrite.argument(text, MOUNTS) == real


@given(st.text(), st.dictionaries(st.sampled_from(["A", "B"]), st.text()))
def test_doubled_dollars_survive_expansion(text: str, env: dict[str, str]) -> None:
    assert rewrite.expand(text.replace("$", "$$"), env) == text


def test_references_are_expanded_as_kubernetes_does() -> None:
    env = {"A": "1", "B": "$(A)"}
    assert rewrite.expand("$(A) $(B) $(C) $A $$(A) $$$(A)", env) == "1 $(A) $(C) $A $(A) $1"


def test_a_pod_explains_itself_by_its_failed_init_container() -> None:
    ended = {"exitCode": 4, "reason": "Error", "finishedAt": "2026-05-01T10:00:00Z"}
    info = convert.pod(
        {
            "metadata": {"name": "p", "namespace": "clu-a"},
            "spec": {"containers": [{"name": "pytorch"}]},
            "status": {
                "phase": "Failed",
                "initContainerStatuses": [{"name": "fetch", "state": {"terminated": ended}}],
                "containerStatuses": [
                    {"name": "pytorch", "state": {"waiting": {"reason": "PodInitializing"}}}
                ],
            },
        }
    )
    assert (info.exit_code, info.reason, info.phase, info.replica) == (4, "Error", "Failed", "p")
    assert info.started_at is None  # the main container never ran
    assert info.finished_at is not None
    assert info.finished_at.isoformat() == "2026-05-01T10:00:00+00:00"


def test_a_pod_of_a_strange_phase_is_unknown() -> None:
    info = convert.pod({"metadata": {"name": "p", "namespace": "n"}, "status": {"phase": "Odd"}})
    assert (info.phase, info.exit_code, info.reason) == ("Unknown", None, "")


def test_conditions_are_true_only_by_the_word() -> None:
    job = convert.pytorchjob(
        {
            "metadata": {"name": "r", "namespace": "n"},
            "status": {
                "conditions": [
                    {"type": "Running", "status": "False", "reason": "PyTorchJobRunning"},
                    {"type": "Failed", "status": "True", "reason": "PyTorchJobFailed", "message": "m"},
                ]
            },
        }
    )
    assert job.condition("Running") is None
    failed = job.condition("Failed")
    assert failed is not None
    assert failed.message == "m"
