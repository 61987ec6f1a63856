"""What a pod of the embedded site finds and leaves: files, variables, real paths, a complete log."""

import os
import pwd
import shutil
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from k8s import errors
from k8s.embedded import isolation, launch
from k8s.embedded.port import EmbeddedPort
from k8s.embedded.supervisor import Supervisor
from tests.k8s import manifests
from tests.k8s.conftest import EmbeddedSite
from tests.support import wait

VOLUMES = [
    {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
    {"name": "code", "configMap": {"name": "run-a-code"}},
    {"name": "shm", "emptyDir": {"medium": "Memory"}},
    {"name": "keys", "secret": {"secretName": "run-a-env"}},
]
MOUNTS = [
    {"name": "data", "mountPath": "/data"},
    {"name": "code", "mountPath": "/workspace"},
    {"name": "shm", "mountPath": "/dev/shm"},
    {"name": "keys", "mountPath": "/keys"},
]


def full_job(command: list[str], env: dict[str, str] | None = None, **pod: Any) -> dict[str, Any]:
    container = {
        "workingDir": "/workspace",
        "volumeMounts": MOUNTS,
        "envFrom": [{"secretRef": {"name": "run-a-env"}}],
        "env": [{"name": name, "value": value} for name, value in (env or {}).items()],
    }
    return manifests.job("run-a", command, container=container, pod={"volumes": VOLUMES, **pod})


@pytest.fixture
def furnished(site: EmbeddedSite) -> EmbeddedSite:
    site.port.apply(manifests.claim("data"))
    site.port.apply(manifests.secret("run-a-env", {"TOKEN": "s3cret"}))
    site.port.apply(manifests.config_map("run-a-code", {"main.py": "import os; print(os.environ['OUT'])"}))
    return site


def run(site: EmbeddedSite, job: dict[str, Any]) -> list[str]:
    site.port.apply(job)
    site.ended("run-a")
    return site.log("run-a-master-0")


def test_inline_code_runs_with_real_paths(furnished: EmbeddedSite) -> None:
    env = {"OUT": "/data/out", "PYTHONPATH": "/workspace:/data/lib", "URL": "s3://data", "RESUME_FROM": ""}
    (out,) = run(furnished, full_job(["python", "main.py"], env))
    assert out == str(furnished.port.claim_folder("clu-a", "data") / "out")


def test_arguments_and_options_below_a_mount_are_rewritten(furnished: EmbeddedSite) -> None:
    command = ["echo", "/data", "--out=/data/x", "/database", "/workspace/main.py", "$(TOKEN)", "$$(TOKEN)"]
    (said,) = run(furnished, full_job(command))
    data = furnished.port.claim_folder("clu-a", "data")
    words = said.split(" ")
    assert words[:3] == [str(data), f"--out={data}/x", "/database"]
    assert words[3].endswith("/volumes/code/main.py")
    assert words[4:] == ["s3cret", "$(TOKEN)"]


def test_a_pod_that_is_gone_still_says_how_it_ended(furnished: EmbeddedSite) -> None:
    port = furnished.port
    port.apply(full_job(manifests.shell("trap 'exit 7' TERM; echo up; while true; do sleep 0.05; done")))
    read = partial(port.read_log, "clu-a", "run-a-master-0", cursor=None, limit_bytes=1000)
    furnished.until(lambda: furnished.condition("run-a", "Running") and read().lines)
    assert read().exit_code is None
    port.delete("PyTorchJob", "clu-a", "run-a")
    furnished.until(lambda: port.get("PyTorchJob", "clu-a", "run-a") is None)
    assert (read().eof, read().exit_code) == (True, 7)


def test_a_claim_keeps_its_files_for_the_next_run(furnished: EmbeddedSite) -> None:
    run(furnished, full_job(manifests.shell("echo kept > $DIR/file"), {"DIR": "/data"}))
    furnished.port.delete("PyTorchJob", "clu-a", "run-a")
    furnished.until(lambda: furnished.port.get("PyTorchJob", "clu-a", "run-a") is None)
    assert run(furnished, full_job(["cat", "/data/file"])) == ["kept"]
    folder = furnished.port.claim_folder("clu-a", "data")
    furnished.port.delete("PersistentVolumeClaim", "clu-a", "data")
    furnished.until(lambda: furnished.port.get("PersistentVolumeClaim", "clu-a", "data") is None)
    assert not folder.exists()


def test_a_namespace_takes_files_and_logs_with_it(furnished: EmbeddedSite) -> None:
    run(furnished, full_job(manifests.shell("echo secret | tee $DIR/file"), {"DIR": "/data"}))
    furnished.port.delete("Namespace", "", "clu-a")
    furnished.until(lambda: furnished.port.get("Namespace", "", "clu-a") is None)
    assert not furnished.port.claim_folder("clu-a", "data").parent.exists()
    assert not list((furnished.folder / "pods").iterdir())
    with pytest.raises(errors.NotFound):
        furnished.port.read_log("clu-a", "run-a-master-0", cursor=None, limit_bytes=100)


def test_the_portals_environment_stays_outside(
    furnished: EmbeddedSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_KEY", "portal")
    names = {line.split("=")[0] for line in run(furnished, full_job(["env"]))}
    assert "SECRET_KEY" not in names
    assert {"PATH", "HOME", "TMPDIR", "LANG", "TOKEN", "RANK"} <= names


def test_a_pod_waits_for_what_it_refers_to(site: EmbeddedSite) -> None:
    site.port.apply(full_job(["cat", "/keys/TOKEN"]))
    (pod,) = site.until(lambda: [p for p in site.port.list_pods("clu-a") if p.reason == "FailedMount"])
    assert pod.phase == "Pending"
    site.port.apply(manifests.claim("data"))
    site.port.apply(manifests.config_map("run-a-code", {}))
    site.until(lambda: site.port.list_pods("clu-a")[0].reason == "CreateContainerConfigError")
    site.port.apply(manifests.secret("run-a-env", {"TOKEN": "s3cret"}))
    assert site.ended("run-a") == "Succeeded"
    assert site.log("run-a-master-0") == ["s3cret"]


def test_init_containers_fill_volumes_first(furnished: EmbeddedSite) -> None:
    fetch = {
        "name": "fetch",
        "image": "none",
        "command": manifests.shell("echo fetching; echo 'print(42)' > $CODE_DIR/main.py"),
        "env": [{"name": "CODE_DIR", "value": "/workspace"}],
        "volumeMounts": [{"name": "src", "mountPath": "/workspace"}],
    }
    pod = {"initContainers": [fetch], "volumes": [{"name": "src", "emptyDir": {}}]}
    container = {"workingDir": "/workspace", "volumeMounts": [{"name": "src", "mountPath": "/workspace"}]}
    job = manifests.job("run-a", ["python", "main.py"], pod=pod, container=container)
    assert run(furnished, job) == ["fetching", "42"]


def test_a_failed_init_container_fails_the_pod(site: EmbeddedSite) -> None:
    fetch = {"name": "fetch", "image": "none", "command": manifests.shell("echo no such archive; exit 4")}
    job = manifests.job("run-a", ["echo", "never"], pod={"initContainers": [fetch]})
    assert run(site, job) == ["no such archive"]
    (pod,) = site.port.list_pods("clu-a")
    assert (pod.phase, pod.exit_code, pod.reason) == ("Failed", 4, "Error")


def test_the_log_keeps_every_byte(site: EmbeddedSite) -> None:
    script = (
        "import sys; w = sys.stdout.buffer.write\n"
        "w(b'first\\n'); w(b'bad \\xff\\xfe bytes\\n'); w(b'tab\\t\\x1b[31mred\\x00\\n')\n"
        "w(('ä' * 500_000).encode() + b'\\n'); w('中文 🚀\\n'.encode()); w(b'no newline')"
    )
    site.port.apply(manifests.job("run-a", ["python", "-c", script]))
    assert site.ended("run-a") == "Succeeded"
    lines, cursor = [], None
    while True:
        chunk = site.port.read_log("clu-a", "run-a-master-0", cursor=cursor, limit_bytes=50_000)
        lines += chunk.lines
        cursor = chunk.cursor
        if chunk.eof:
            break
    assert [line.text for line in lines[:3]] == ["first", "bad \ufffd\ufffd bytes", "tab\t\x1b[31mred\x00"]
    long = lines[3:-2]
    assert all(line.partial for line in long[:-1])
    assert not long[-1].partial
    assert "".join(line.text for line in long) == "ä" * 500_000
    assert max(len(line.text.encode()) for line in long) <= 16 * 1024
    assert [line.text for line in lines[-2:]] == ["中文 🚀", "no newline"]
    assert [line.time for line in lines] == sorted(line.time for line in lines)


def test_much_output_is_complete_and_in_order(site: EmbeddedSite) -> None:
    site.port.apply(manifests.job("run-a", ["python", "-c", "for i in range(100_000): print(i)"]))
    assert site.ended("run-a") == "Succeeded"
    assert site.log("run-a-master-0") == [str(n) for n in range(100_000)]


def test_a_strange_cursor_is_refused(site: EmbeddedSite) -> None:
    run(site, manifests.job("run-a"))
    with pytest.raises(errors.Refused):
        site.port.read_log("clu-a", "run-a-master-0", cursor="../x", limit_bytes=100)


def test_volumes_cannot_lead_out(site: EmbeddedSite) -> None:
    pod = {"volumes": [{"name": "../../x", "emptyDir": {}}]}
    site.port.apply(manifests.job("run-a", pod=pod))
    (found,) = site.until(lambda: [p for p in site.port.list_pods("clu-a") if p.reason])
    assert found.reason == "FailedMount"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can run pods as another user")
def test_pods_of_root_are_an_own_user_that_cannot_read_the_store() -> None:
    folder = Path(tempfile.mkdtemp(prefix="berth-test-"))
    folder.chmod(0o711)
    nobody = pwd.getpwnam("nobody")
    user = isolation.PodUser("nobody", nobody.pw_uid, nobody.pw_gid)
    port = EmbeddedPort(folder / "site")
    supervisor = Supervisor(launch.Settings(folder=folder / "site", user=user))
    try:
        port.ensure_node("node-1", gpus=1)
        port.set_node_owner("node-1", "clu-a")
        for manifest in (manifests.namespace(), manifests.claim("data")):
            port.apply(manifest)
        script = f"id -un; echo mine > $DIR/file; cat {folder}/site/site.db || echo closed; cd; touch own"
        container = {
            "volumeMounts": [{"name": "data", "mountPath": "/data"}],
            "env": [{"name": "DIR", "value": "/data"}],
        }
        volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
        port.apply(
            manifests.job("run-a", manifests.shell(script), container=container, pod={"volumes": volumes})
        )
        wait.until(lambda: (supervisor.step(), port.list_pytorchjobs()[0][0].finished_at)[1])
        chunk = port.read_log("clu-a", "run-a-master-0", cursor=None, limit_bytes=10_000)
        texts = [line.text for line in chunk.lines]
        assert texts[0] == "nobody"
        assert "closed" in texts
        assert port.list_pytorchjobs()[0][0].condition("Succeeded")
        assert (port.claim_folder("clu-a", "data") / "file").owner() == "nobody"
    finally:
        supervisor.shut_down()
        supervisor.close()
        port.close()
        shutil.rmtree(folder)


def test_a_closed_folder_is_named(tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    assert isolation.closed_part(private / "deep") is not None
    assert isolation.closed_part(Path("/usr/bin")) is None


def test_folders_nested_deeper_than_python_calls_itself_are_removed(furnished: EmbeddedSite) -> None:
    code = (
        "import os, tempfile\n"
        "for place in (tempfile.gettempdir(), '/data'):\n"
        "    os.chdir(os.environ['D'] if place == '/data' else place)\n"
        "    for _ in range(1500):\n"
        "        os.mkdir('d'); os.chdir('d')\n"
        "print('made')\n"
    )
    assert run(furnished, full_job(["python", "-c", code], {"D": "/data"})) == ["made"]
    claims = furnished.folder / "claims" / "clu-a"
    assert (claims / "data" / "d").is_dir()
    furnished.port.delete("Namespace", "", "clu-a")
    furnished.until(lambda: not claims.exists())
