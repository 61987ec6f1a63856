"""A whole portal as `make run` starts it, in a folder of its own: asked, disturbed and stopped by tests."""

import contextlib
import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from portal.local import ports, supervisor
from tests.support import tree
from tests.support.wait import until

START_SECONDS = 300  # of a machine that is busy with other tests
PROC = Path("/proc/self/environ").exists()  # where processes can be looked for

# The servers write their titles over the environment that names the others.
SERVICES = {"redis": "redis-server", "postgres": "bin/postgres"}


class Portal:
    """A start of the portal as its command line, with the environment of a bare machine."""

    def __init__(self, data: Path, user: str | None = None) -> None:
        self.data = data
        self.port = ports.free()
        self.output = data.parent / f"{data.name}.txt"
        self.user = user
        self.child: subprocess.Popen[bytes] | None = None
        self.killed: list[tuple[str, float]] = []

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
        """Run a command of manage.py beside the portal and return what it says."""
        return self.run("manage.py", *words)

    def run(self, *words: str) -> str:
        """Run Python with the portal's environment and return what it says."""
        done = subprocess.run(
            [sys.executable, *words],
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

    def process(self, name: str) -> int:
        """Return the number of the noted process with this name in the Procfile, 0 while there is none."""
        if name in SERVICES:
            return self.leader(SERVICES[name])
        mark = f"BERTH_PROCESS={name}\0".encode()
        for number in json.loads((self.data / "processes.json").read_text()):
            with contextlib.suppress(OSError):
                if mark in Path(f"/proc/{number}/environ").read_bytes():
                    return int(number)
        return 0

    def kill(self, *names: str) -> None:
        """Kill processes at once with all that they have in their groups, as the kernel would."""
        numbers = [until(lambda name=name: self.process(name), START_SECONDS) for name in names]
        self.killed += [(name, time.monotonic()) for name in names]
        for number in numbers:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(number, signal.SIGKILL)
        for number in numbers:
            until(lambda number=number: not Path(f"/proc/{number}").exists(), START_SECONDS)

    def calm_down(self, coming: list[str]) -> None:
        """Wait until so many kills more are fewer than what ends a portal: five of a process in a minute."""

        def calm() -> bool:
            since = time.monotonic() - supervisor.WINDOW
            recent = [name for name, at in self.killed if at > since]
            return all(recent.count(name) + coming.count(name) < supervisor.RESTARTS for name in coming)

        until(calm, supervisor.WINDOW * 2, pause=0.5)

    def services(self) -> dict[str, str]:
        """Return the settings that this start has made: addresses and secrets of its services."""
        found: dict[str, str] = json.loads((self.data / "services.json").read_text())
        return found

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


@contextlib.contextmanager
def in_own_folder(name: str) -> Iterator[Portal]:
    """Give a portal that is not started yet, and leave nothing of it behind."""
    # Below no private folder: the services have users of their own.
    folder = Path("/tmp") / f"berth-{name}-{os.getpid()}"
    folder.mkdir(mode=0o755)
    portal = Portal(folder / "data")
    try:
        yield portal
    finally:
        if portal.child is not None and portal.child.poll() is None:
            portal.stop()
        shutil.rmtree(folder)
