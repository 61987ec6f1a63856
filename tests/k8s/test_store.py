"""The store under threads, forks and other processes; what a transaction that fails leaves."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from k8s import errors
from k8s.embedded.port import EmbeddedPort
from tests.k8s import manifests

RIVAL = """
import sys
from pathlib import Path
from k8s.embedded.port import EmbeddedPort
from tests.k8s import manifests
sys.stdin.readline()
port = EmbeddedPort(Path(sys.argv[1]))
port.apply(manifests.namespace())
print(sum(port.apply(manifests.job(f"run-{n}")).created for n in range(50)))
port.close()
"""


@pytest.fixture
def port(tmp_path: Path):
    port = EmbeddedPort(tmp_path / "site")
    yield port
    port.close()


def test_rival_processes_create_each_object_once(port: EmbeddedPort) -> None:
    root = Path(__file__).parents[2]
    rivals = [
        subprocess.Popen(
            [sys.executable, "-c", RIVAL, str(port.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=root,
        )
        for _ in range(4)
    ]
    made = [int(rival.communicate("go\n")[0]) for rival in rivals]
    assert sum(made) == 50
    assert len(port.list_pytorchjobs()[0]) == 50


def test_threads_share_one_port(port: EmbeddedPort) -> None:
    port.apply(manifests.namespace())
    with ThreadPoolExecutor(16) as pool:
        made = list(pool.map(lambda n: port.apply(manifests.job(f"run-{n % 20}")).created, range(200)))
    assert sum(made) == 20


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_goes_on_with_a_connection_of_its_own(port: EmbeddedPort) -> None:
    port.apply(manifests.namespace())
    child = os.fork()
    if child == 0:
        status = 1
        try:
            port.apply(manifests.config_map("child", {}))
            status = 0
        finally:
            os._exit(status)
    port.apply(manifests.config_map("parent", {}))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert port.list_objects("clu-a") == [("ConfigMap", "child"), ("ConfigMap", "parent")]


def test_a_failed_transaction_leaves_nothing(port: EmbeddedPort) -> None:
    port.apply(manifests.namespace())
    with port.store.read() as site:
        before = site.version()

    def fail() -> None:
        with port.store.write() as site:
            site.put(manifests.config_map("half", {}))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert port.list_objects("clu-a") == []
    with port.store.read() as site:
        assert site.version() == before


def test_secrets_are_not_in_the_log_of_changes(port: EmbeddedPort) -> None:
    port.apply(manifests.namespace())
    port.apply(manifests.secret("env", {"TOKEN": "s3cret"}))
    with port.store.read() as site:
        change = site.changes(0)[-1]
    assert (change.kind, change.body) == ("Secret", {})
    assert port.store.path.stat().st_mode & 0o077 == 0


def test_versions_of_another_site_are_gone(port: EmbeddedPort) -> None:
    for strange in ("999999", "", "x", "-1"):
        with pytest.raises(errors.Gone):
            next(port.watch_pytorchjobs(strange, timeout=0))
