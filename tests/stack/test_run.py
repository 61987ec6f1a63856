"""`make run` from end to end: ready, found by manage.py, a second start refused, everything ended."""

import contextlib
import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from portal.local import ports
from tests.support import tree
from tests.support.wait import until

pytestmark = [pytest.mark.kill, pytest.mark.timeout(600), pytest.mark.xdist_group("run")]
START_SECONDS = 300  # of a machine that is busy with other tests


class Portal:
    """A start of the portal as its command line, with the environment of a bare machine."""

    def __init__(self, data: Path, user: str | None = None) -> None:
        self.data = data
        self.port = ports.free()
        self.output = data.parent / f"{data.name}.txt"
        self.user = user
        self.child: subprocess.Popen[bytes] | None = None

    def command(self, port: int) -> list[str]:
        return [sys.executable, "-m", "portal.local.run", "--port", str(port)]

    def environment(self) -> dict[str, str]:
        return {"PATH": "/usr/bin:/bin", "BERTH_DATA": str(self.data), "LANG": "C.UTF-8"}

    def start(self) -> None:
        with self.output.open("wb") as output:
            self.child = subprocess.Popen(
                self.command(self.port),
                cwd=tree.ROOT,
                env=self.environment(),
                stdout=output,
                stderr=output,
                start_new_session=True,
                user=self.user,
                group=pwd.getpwnam(self.user).pw_gid if self.user else None,
                extra_groups=[] if self.user else None,
            )

    def wait_until_ready(self) -> None:
        assert self.child is not None
        child = self.child
        until(lambda: "Ready after" in self.said() or child.poll() is not None, START_SECONDS)
        assert "Ready after" in self.said(), self.said()

    def again(self, port: int) -> subprocess.CompletedProcess[str]:
        """Try a second start with the same data."""
        return subprocess.run(
            self.command(port),
            cwd=tree.ROOT,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def manage(self, *words: str) -> str:
        done = subprocess.run(
            [sys.executable, "manage.py", *words],
            cwd=tree.ROOT,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def said(self) -> str:
        return self.output.read_text(errors="replace")

    def processes(self) -> list[str]:
        """Return the command lines of all processes that carry this data folder."""
        mark, found = str(self.data).encode(), []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                told = (entry / "cmdline").read_bytes()
                if mark in told or mark in (entry / "environ").read_bytes():
                    found.append(told.replace(b"\0", b" ").decode())
            except OSError:
                continue
        return found

    def leader(self, mark: str) -> int:
        """Return the number of the noted process with this command line, 0 while there is none."""
        for number in json.loads((self.data / "processes.json").read_text()):
            with contextlib.suppress(OSError):
                if mark in Path(f"/proc/{number}/cmdline").read_bytes().replace(b"\0", b" ").decode():
                    return int(number)
        return 0

    def is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=10) as answer:
                return json.load(answer)["status"] == "ready"
        except OSError:
            return False

    def stop(self) -> int:
        assert self.child is not None
        self.child.send_signal(signal.SIGINT)
        return self.child.wait(timeout=120)


@pytest.fixture
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    folder = Path("/tmp") / f"berth-run-{os.getpid()}"  # below no private folder: services have own users
    folder.mkdir(mode=0o755)
    portal = Portal(folder / "data")
    yield portal
    if portal.child is not None and portal.child.poll() is None:
        portal.stop()
    shutil.rmtree(folder)


def _passwords(portal: Portal) -> dict[str, str]:
    return json.loads((portal.data / "installation.json").read_text())["demo_passwords"]


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks for processes in /proc")
def test_run_from_nothing_to_nothing_left(portal: Portal) -> None:
    portal.start()
    portal.wait_until_ready()
    said = portal.said()
    for email, password in _passwords(portal).items():
        assert email in said
        assert password in said
    assert oct((portal.data / "installation.json").stat().st_mode & 0o777) == "0o600"
    assert oct((portal.data / "services.json").stat().st_mode & 0o777) == "0o600"

    assert portal.is_ready()
    token = portal.manage("issue_token", "demo@berth.example", "--scope", "jobs:read").strip()
    assert token.startswith("berth_")

    for mark in ("celery --quiet --app portal worker", "manage.py watch", "pginstall/bin/postgres -D"):
        killed = portal.leader(mark)
        os.kill(killed, signal.SIGKILL)
        until(lambda mark=mark, killed=killed: portal.leader(mark) not in {0, killed}, START_SECONDS)
    until(portal.is_ready, START_SECONDS)

    second = portal.again(ports.free())
    assert second.returncode == 1
    assert "already runs" in second.stderr
    assert "Traceback" not in second.stderr

    passwords = _passwords(portal)
    assert portal.stop() == 0
    assert portal.processes() == []
    assert not (portal.data / "services.json").exists()

    portal.start()
    portal.wait_until_ready()
    assert _passwords(portal) == passwords
    assert portal.child is not None
    portal.child.kill()  # the supervisor is lost; the next start ends what it left
    portal.child.wait()
    assert portal.processes() != []
    portal.start()
    portal.wait_until_ready()
    assert "interrupted start" in portal.said()
    assert portal.stop() == 0
    assert portal.processes() == []
