"""The embedded site behaves as the training operator, the scheduler and the kubelet do together."""

import os
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.k8s import manifests
from tests.k8s.conftest import EmbeddedSite

SLEEP = manifests.shell("exec sleep 60")


def test_replicas_find_the_operators_environment(site: EmbeddedSite) -> None:
    names = {"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "PYTHONUNBUFFERED"}
    job = manifests.job("run-a", ["env"], workers=2, gpus=1, cleanPodPolicy="None")
    job["spec"]["nprocPerNode"] = "4"
    site.port.apply(job)
    site.until(lambda: set(site.phases().values()) == {"Succeeded"})
    found = {}
    for pod in site.port.list_pods("clu-a"):
        env = dict(line.split("=", 1) for line in site.log(pod.name))
        found[pod.replica] = {k: v for k, v in env.items() if k in names or k.startswith("PET_")}
    assert {name: env["RANK"] for name, env in found.items()} == {
        "master-0": "0",
        "worker-0": "1",
        "worker-1": "2",
    }
    assert len({env["MASTER_PORT"] for env in found.values()}) == 1
    assert found["worker-1"] == found["master-0"] | {"RANK": "2", "PET_NODE_RANK": "2"}
    assert found["master-0"] == {
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": found["master-0"]["PET_MASTER_PORT"],
        "PET_MASTER_ADDR": "127.0.0.1",
        "PET_MASTER_PORT": found["master-0"]["MASTER_PORT"],
        "WORLD_SIZE": "12",
        "RANK": "0",
        "PET_NNODES": "3",
        "PET_NODE_RANK": "0",
        "PET_NPROC_PER_NODE": "4",
        "PYTHONUNBUFFERED": "1",
    }


MEETING = """
import os, socket, time
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
address = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
if rank == 0:
    with socket.create_server(address) as server:
        print(sorted(int(server.accept()[0].recv(10)) for _ in range(world - 1)))
else:
    deadline = time.monotonic() + 20
    while True:
        try:
            socket.create_connection(address).sendall(str(rank).encode())
            break
        except ConnectionRefusedError:
            assert time.monotonic() < deadline
            time.sleep(0.02)
"""


def test_the_replicas_of_two_jobs_meet_each_at_its_own_master(site: EmbeddedSite) -> None:
    for name in ("run-a", "run-b"):
        site.port.apply(manifests.job(name, ["python", "-c", MEETING], workers=3))
    for name in ("run-a", "run-b"):
        assert site.ended(name) == "Succeeded"
        assert site.log(f"{name}-master-0") == ["[1, 2, 3]"]


def test_pods_carry_the_operators_labels(site: EmbeddedSite) -> None:
    site.port.apply(manifests.job("run-a", SLEEP, workers=1))
    pods = site.until(lambda: site.port.list_pods("clu-a", {"training.kubeflow.org/job-name": "run-a"}))
    assert [pod.name for pod in pods] == ["run-a-master-0", "run-a-worker-0"]
    assert pods[0].labels["training.kubeflow.org/job-role"] == "master"
    assert "training.kubeflow.org/job-role" not in pods[1].labels
    assert pods[1].labels["training.kubeflow.org/replica-type"] == "worker"
    assert pods[1].labels["training.kubeflow.org/replica-index"] == "0"


def test_a_gang_waits_until_all_of_it_fits(site: EmbeddedSite) -> None:
    site.port.apply(manifests.job("run-a", manifests.shell("read x < go; echo $x"), gpus=2, **_go(site)))
    site.until(lambda: site.condition("run-a", "Running"))
    site.port.apply(manifests.job("run-b", SLEEP, workers=1, gpus=2))
    pods = site.until(lambda: site.port.list_pods("clu-a", {manifests.RUN: "run-b"}))
    assert [(pod.phase, pod.node, pod.reason) for pod in pods] == [("Pending", "", "Unschedulable")] * 2
    assert "insufficient nvidia.com/gpu" in pods[0].message
    site.port.apply(manifests.job("run-c", manifests.shell("true"), gpus=2))
    assert site.ended("run-c") == "Succeeded"  # what fits may pass
    assert not site.condition("run-b", "Running")
    (_claim(site) / "go").write_text("now\n")
    site.until(lambda: site.condition("run-b", "Running"))
    nodes = {pod.node for pod in site.port.list_pods("clu-a", {manifests.RUN: "run-b"})}
    assert nodes == {"node-1", "node-2"}


def test_nodes_of_others_are_not_used(site: EmbeddedSite) -> None:
    site.port.set_node_owner("node-1", "clu-b", previous="clu-a")
    site.port.apply(manifests.job("run-a", SLEEP, workers=1, gpus=1))
    site.until(lambda: site.condition("run-a", "Running"))
    assert {pod.node for pod in site.port.list_pods("clu-a")} == {"node-2"}
    site.port.set_node_owner("node-2", None)
    site.port.apply(manifests.job("run-b", SLEEP))
    (pod,) = site.until(lambda: site.port.list_pods("clu-a", {manifests.RUN: "run-b"}))
    assert (pod.reason, pod.node) == ("Unschedulable", "")
    assert "no node matches" in pod.message


def test_quota_holds_back_a_whole_job(site: EmbeddedSite) -> None:
    site.port.apply(manifests.quota(2))
    site.port.apply(manifests.job("run-a", SLEEP, workers=1, gpus=1))
    site.until(lambda: site.condition("run-a", "Running"))
    site.port.apply(manifests.job("run-b", manifests.shell("true"), gpus=1))
    site.until(lambda: site.condition("run-b", "Created"))
    assert site.port.list_pods("clu-a", {manifests.RUN: "run-b"}) == []
    site.port.delete("PyTorchJob", "clu-a", "run-a")
    assert site.ended("run-b") == "Succeeded"


def test_master_exit_0_finishes_and_the_rest_is_killed(site: EmbeddedSite) -> None:
    site.port.apply(manifests.job("run-a", manifests.shell("true"), worker=SLEEP, workers=1, gpus=1))
    assert site.ended("run-a") == "Succeeded"
    site.until(lambda: site.phases() == {"master-0": "Succeeded"})
    (job,), _ = site.port.list_pytorchjobs()
    assert job.replicas["Master"].succeeded == 1


def test_without_cleaning_the_rest_runs_on(site: EmbeddedSite) -> None:
    job = manifests.job(
        "run-a", manifests.shell("true"), worker=SLEEP, workers=1, gpus=1, cleanPodPolicy="None"
    )
    site.port.apply(job)
    assert site.ended("run-a") == "Succeeded"
    assert site.until(lambda: site.phases()["worker-0"] == "Running")


def test_a_failed_worker_fails_the_job(site: EmbeddedSite) -> None:
    worker = manifests.shell("echo broken >&2; exit 7")
    extra = {"terminationMessagePolicy": "FallbackToLogsOnError"}
    site.port.apply(manifests.job("run-a", SLEEP, worker=worker, workers=1, container=extra))
    assert site.ended("run-a") == "Failed"
    (job,), _ = site.port.list_pytorchjobs()
    failed = job.condition("Failed")
    assert failed is not None
    assert failed.reason == "PyTorchJobFailed"
    assert failed.message == "PyTorchJob run-a is failed because 1 Worker replica(s) failed."
    assert job.finished_at is not None
    site.until(lambda: site.phases() == {"worker-0": "Failed"})
    (pod,) = site.port.list_pods("clu-a")
    assert (pod.exit_code, pod.reason, pod.message) == (7, "Error", "broken")


@pytest.mark.parametrize(
    ("command", "code", "reason"),
    [
        (["no-such-program"], 128, "StartError"),
        (manifests.shell("kill -9 $$$$"), 137, "Error"),
        (manifests.shell("kill -6 $$$$"), 134, "Error"),
    ],
)
def test_exit_codes_are_those_of_containers(
    site: EmbeddedSite, command: list[str], code: int, reason: str
) -> None:
    site.port.apply(manifests.job("run-a", command))
    assert site.ended("run-a") == "Failed"
    (pod,) = site.port.list_pods("clu-a")
    assert (pod.exit_code, pod.reason) == (code, reason)


def test_deleting_gives_sigterm_and_the_grace(site: EmbeddedSite) -> None:
    script = (
        "trap 'echo saving; sleep 0.2; echo saved; exit 0' TERM; echo ready; while :; do sleep 0.05; done"
    )
    site.port.apply(manifests.job("run-a", manifests.shell(script), gpus=2))
    site.until(lambda: _has_line(site, "run-a-master-0", "ready"))
    site.port.delete("PyTorchJob", "clu-a", "run-a")
    site.until(lambda: site.port.get("PyTorchJob", "clu-a", "run-a") is None)
    assert [text for text in site.log("run-a-master-0") if text != "Terminated"] == [
        "ready",
        "saving",
        "saved",
    ]


def test_who_ignores_sigterm_is_killed_and_frees_its_gpus_only_then(site: EmbeddedSite) -> None:
    script = "trap '' TERM; echo ready; while :; do sleep 0.05; done"
    site.port.apply(manifests.job("run-a", manifests.shell(script), workers=1, gpus=2, grace=1))
    site.until(
        lambda: _has_line(site, "run-a-master-0", "ready") and _has_line(site, "run-a-worker-0", "ready")
    )
    site.port.apply(manifests.job("run-b", manifests.shell("date +%s.%N"), gpus=2))
    asked = time.time()
    site.port.delete("PyTorchJob", "clu-a", "run-a")
    assert site.ended("run-b") == "Succeeded"
    assert float(site.log("run-b-master-0")[0]) - asked >= 1


def test_a_second_delete_shortens_the_grace(site: EmbeddedSite) -> None:
    script = "trap '' TERM; echo ready; while :; do sleep 0.05; done"
    site.port.apply(manifests.job("run-a", manifests.shell(script), grace=600))
    site.until(lambda: _has_line(site, "run-a-master-0", "ready"))
    site.port.delete("PyTorchJob", "clu-a", "run-a")
    site.supervisor.step()
    site.port.delete("PyTorchJob", "clu-a", "run-a", grace_seconds=0)
    site.until(lambda: site.port.get("PyTorchJob", "clu-a", "run-a") is None)


def test_a_daemon_of_the_pod_does_not_outlive_it(site: EmbeddedSite) -> None:
    script = "setsid sleep 987 & sleep 0.1; echo $!; exit 0"
    site.port.apply(manifests.job("run-a", manifests.shell(script)))
    assert site.ended("run-a") == "Succeeded"
    pid = site.log("run-a-master-0")[0]
    with pytest.raises(FileNotFoundError):
        open(f"/proc/{pid}/stat").close()


def test_the_deadline_ends_a_job(site: EmbeddedSite) -> None:
    site.port.apply(manifests.job("run-a", SLEEP, activeDeadlineSeconds=1))
    asked = datetime.now(UTC)
    assert site.ended("run-a") == "Failed"
    (job,), _ = site.port.list_pytorchjobs()
    failed = job.condition("Failed")
    assert failed is not None
    assert "active longer than specified deadline" in failed.message
    assert job.finished_at is not None
    assert 0.5 < (job.finished_at - asked).total_seconds() < 10
    site.until(lambda: site.port.list_pods("clu-a") == [])


def test_suspending_takes_the_pods_away(site: EmbeddedSite) -> None:
    site.port.apply(manifests.job("run-a", SLEEP, gpus=1))
    site.until(lambda: site.condition("run-a", "Running"))
    site.port.apply(manifests.job("run-a", SLEEP, gpus=1, suspend=True))
    site.until(lambda: site.condition("run-a", "Suspended") and not site.port.list_pods("clu-a"))
    assert not site.condition("run-a", "Running")
    site.port.apply(manifests.job("run-a", SLEEP, gpus=1, suspend=False))
    site.until(lambda: site.condition("run-a", "Running"))
    assert not site.condition("run-a", "Suspended")


def test_finished_jobs_go_when_their_time_is_over(site: EmbeddedSite) -> None:
    site.port.apply(manifests.job("run-a", ttlSecondsAfterFinished=0))
    site.until(lambda: site.port.get("PyTorchJob", "clu-a", "run-a") is None)
    assert site.port.list_pods("clu-a") == []


def _has_line(site: EmbeddedSite, pod: str, text: str) -> bool:
    if not any(found.name == pod for found in site.port.list_pods("clu-a")):
        return False
    chunk = site.port.read_log("clu-a", pod, cursor=None, limit_bytes=10_000)
    return any(line.text == text for line in chunk.lines)


def _claim(site: EmbeddedSite) -> Path:
    return site.port.claim_folder("clu-a", "data")


def _go(site: EmbeddedSite) -> dict[str, dict[str, object]]:
    """Mount the claim `data` and start in it; a named pipe `go` holds the job until it is written to."""
    site.port.apply(manifests.claim("data"))
    _claim(site).mkdir(parents=True)
    os.mkfifo(_claim(site) / "go")
    return {
        "pod": {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]},
        "container": {
            "workingDir": "/data",
            "volumeMounts": [{"name": "data", "mountPath": "/data"}],
        },
    }
