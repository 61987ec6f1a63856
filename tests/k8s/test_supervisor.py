"""The supervisor comes and goes: pods, logs and exit codes do not depend on it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from k8s.embedded import launch, processes
from k8s.embedded.supervisor import AlreadyRunning, Supervisor
from tests.k8s import manifests
from tests.k8s.conftest import EmbeddedSite
from tests.support import wait

LOOP = """
import signal, sys
from pathlib import Path
from k8s.embedded import launch, wake
from k8s.embedded.supervisor import Supervisor
folder, stopping = Path(sys.argv[1]), []
supervisor = Supervisor(launch.Settings(folder=folder))
signal.signal(signal.SIGTERM, lambda *_: (stopping.append(1), wake.poke(folder)))
supervisor.run(lambda: bool(stopping))
"""


def start(site: EmbeddedSite) -> subprocess.Popen[bytes]:
    """Run a supervisor as a process of its own."""
    if site.supervisor is not None:
        site.supervisor.close()
        site.supervisor = None
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", LOOP, str(site.folder)]
    process = subprocess.Popen(command, cwd=root, env={**os.environ, "PYTHONPATH": str(root)})
    wait.until(lambda: all(node.ready for node in site.port.list_nodes()))
    return process


def test_two_supervisors_are_refused(site: EmbeddedSite) -> None:
    with pytest.raises(AlreadyRunning):
        Supervisor(launch.Settings(folder=site.folder))


def test_nodes_are_not_ready_without_a_supervisor(site: EmbeddedSite) -> None:
    assert all(node.ready for node in site.port.list_nodes())
    assert site.supervisor is not None
    site.supervisor.close()
    site.supervisor = None
    assert not any(node.ready for node in site.port.list_nodes())


def test_a_new_supervisor_adopts_running_pods(site: EmbeddedSite) -> None:
    script = "echo start; while [ ! -e $HOME/go ]; do sleep 0.05; done; echo end; exit 3"
    site.port.apply(manifests.job("run-a", manifests.shell(script), gpus=2))
    site.until(lambda: site.condition("run-a", "Running"))
    assert site.supervisor is not None
    (live,) = site.supervisor.kubelet.live.values()
    site.supervisor.close()
    site.supervise()
    site.until(lambda: site.supervisor is not None and site.supervisor.kubelet.live)
    (live.folder / "home" / "go").touch()
    assert site.ended("run-a") == "Failed"
    (pod,) = site.port.list_pods("clu-a")
    assert pod.exit_code == 3
    assert site.log("run-a-master-0") == ["start", "end"]
    assert live.process is not None
    live.process.wait(10)


@pytest.mark.kill
def test_pods_outlive_a_killed_supervisor(site: EmbeddedSite) -> None:
    process = start(site)
    script = "for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.1; done; exit 5"
    site.port.apply(manifests.job("run-a", manifests.shell(script), gpus=1))
    wait.until(lambda: site.condition("run-a", "Running"))
    process.kill()
    process.wait()
    (pod,) = site.port.list_pods("clu-a")
    folder = site.folder / "pods" / pod.uid
    wait.until(lambda: processes.result(folder))
    assert site.phases() == {"master-0": "Running"}  # nobody has looked
    process = start(site)
    try:
        wait.until(lambda: site.condition("run-a", "Failed"))
        (pod,) = site.port.list_pods("clu-a")
        assert pod.exit_code == 5
        assert site.log("run-a-master-0") == list("12345678")
    finally:
        process.terminate()
        process.wait(20)


@pytest.mark.kill
def test_a_supervisor_killed_again_and_again_loses_and_doubles_nothing(site: EmbeddedSite) -> None:
    for number in range(12):
        site.port.apply(manifests.job(f"run-{number}", manifests.shell("echo once; sleep 0.2"), gpus=1))
    for _ in range(6):
        process = start(site)
        done = len([j for j in site.port.list_pytorchjobs()[0] if j.condition("Running") or j.finished_at])
        wait.until(
            lambda done=done: (
                done
                < len([j for j in site.port.list_pytorchjobs()[0] if j.condition("Running") or j.finished_at])
                or done == 12
            )
        )
        process.kill()
        process.wait()
    process = start(site)
    try:
        wait.until(lambda: all(j.condition("Succeeded") for j in site.port.list_pytorchjobs()[0]), 30)
        for number in range(12):
            assert site.log(f"run-{number}-master-0") == ["once"]
    finally:
        process.terminate()
        process.wait(20)


@pytest.mark.kill
def test_a_killed_shim_is_a_lost_container_and_leaves_nothing(site: EmbeddedSite) -> None:
    script = "setsid sleep 654 & echo $!; exec sleep 60"
    site.port.apply(manifests.job("run-a", manifests.shell(script), gpus=1))
    site.until(lambda: site.condition("run-a", "Running"))
    assert site.supervisor is not None
    (live,) = site.supervisor.kubelet.live.values()
    said = processes.state(live.folder)
    assert said is not None
    wait.until(lambda: processes.strays(live.pod["metadata"]["uid"]))
    os.kill(said["pid"], signal.SIGKILL)
    assert site.ended("run-a") == "Failed"
    (pod,) = site.port.list_pods("clu-a")
    assert (pod.exit_code, pod.reason) == (137, "ContainerStatusUnknown")
    wait.until(lambda: not processes.strays(pod.uid))


def test_sigterm_gives_pods_their_grace(site: EmbeddedSite) -> None:
    process = start(site)
    script = "trap 'echo saved; exit 0' TERM; echo ready; while :; do sleep 0.05; done"
    site.port.apply(manifests.job("run-a", manifests.shell(script), gpus=1, grace=10))
    wait.until(lambda: site.condition("run-a", "Running"))
    wait.until(lambda: site.port.read_log("clu-a", "run-a-master-0", cursor=None, limit_bytes=1000).lines)
    process.terminate()
    assert process.wait(20) == 0
    (pod,) = site.port.list_pods("clu-a")
    assert (pod.phase, pod.reason, pod.exit_code) == ("Failed", "Terminated", 0)
    assert site.log("run-a-master-0")[-1] == "saved"
    assert site.condition("run-a", "Failed")


def test_hundreds_of_jobs_are_applied_listed_and_watched(site: EmbeddedSite) -> None:
    site.port.set_node_owner("node-1", None)
    site.port.set_node_owner("node-2", None)
    _, version = site.port.list_pytorchjobs()
    for number in range(300):
        site.port.apply(manifests.job(f"run-{number:04}", gpus=1))
    site.until(lambda: len(site.port.list_pods("clu-a")) == 300)
    jobs, latest = site.port.list_pytorchjobs("clu-a")
    assert len(jobs) == 300
    assert all(job.condition("Created") for job in jobs)
    seen = [e for e in site.port.watch_pytorchjobs(version, timeout=0.1) if e.job is not None]
    assert {e.job.name for e in seen if e.type == "added" and e.job} == {job.name for job in jobs}
    assert int(latest) >= int(seen[-1].resource_version)


def test_one_senseless_job_does_not_stop_the_others(site: EmbeddedSite) -> None:
    quota = manifests.quota(2)
    quota["spec"]["hard"] = {"requests.nvidia.com/gpu": "many"}
    quota["metadata"]["namespace"] = "clu-b"
    site.port.apply(manifests.namespace("clu-b"))
    site.port.apply(quota)
    site.port.apply(manifests.job("run-a", namespace="clu-b", gpus=1))
    site.port.apply(manifests.job("run-b", gpus=1))
    assert site.ended("run-b") == "Succeeded"
