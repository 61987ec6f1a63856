"""What `make run` does: services, data, processes, and a word on where to go; Ctrl-C ends all of it."""

import argparse
import contextlib
import os
import shlex
import signal
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from portal.local import discover, installation, leftovers, osuser, ports, postgres, redis, secrets
from portal.local.errors import CannotRun
from portal.local.supervisor import Process, Supervisor

READY_SECONDS = 120
SERVICES = ("redis", "postgres")
GRACE = {"embedded": 45.0, "worker": 30.0, "postgres": 30.0, "redis": 20.0}


def main() -> int:
    """Run everything until somebody asks to stop; return an exit code."""
    options = _options()
    began = time.monotonic()
    try:
        return Run(options.port, began).go()
    except CannotRun as error:
        print(f"\nBerth cannot run: {error}", file=sys.stderr)
        return 1


class Run:
    """One `make run`."""

    def __init__(self, port: int, began: float) -> None:
        self.port = port
        self.began = began
        self.data = discover.data_dir().resolve()
        self.address = f"http://127.0.0.1:{port}"
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
        environment = os.environ | {
            "PATH": path,
            "BERTH_DATA": str(self.data),
            "PYTHONUNBUFFERED": "1",
        }
        self.supervisor = Supervisor(
            folder=discover.PROJECT, logs=self.data / "logs", environment=environment
        )
        self.installed: dict[str, Any] = {}

    def go(self) -> int:
        """Start, say so, wait, stop."""
        with installation.prepare(self.data):
            return self._go()

    def _go(self) -> int:
        if leftovers.end(self.data):
            _say("Ended what an interrupted start had left running.")
        try:  # held from now on and handed to web, so that nobody takes it meanwhile
            self.door = ports.listen(self.port)
        except OSError as error:
            raise CannotRun(
                f"port {self.port} is in use by another program. "
                f"Choose another: make run PORT={self.port + 1}"
            ) from error
        self.supervisor.environment["WEB_BIND"] = f"fd://{self.door.fileno()}"
        self.installed = secrets.load(self.data)
        self._choose_ports()
        self.supervisor.changed = lambda processes: leftovers.remember(self.data, processes)
        self.supervisor.listen()
        _say(f"Berth starts. Its data is in {self.data}")
        try:
            self._start()
            if not self.supervisor.stopping:
                self._tell()
            while not self.supervisor.stopping:
                self.supervisor.look_after(seconds=0.5)
        finally:
            _say("\nEnding every process …")
            self.supervisor.stop()
            (self.data / discover.SERVICES_FILE).unlink(missing_ok=True)
            (self.data / leftovers.FILE).unlink(missing_ok=True)
        _say("Ended. The data is kept.")
        return 0

    def _start(self) -> None:
        processes = self._procfile()
        secrets.write(self.data / discover.SERVICES_FILE, self._services())
        if "postgres" in processes:
            postgres.initialise(self.data / "postgres", self.installed["postgres_password"])
        for name in SERVICES:
            if name in processes:
                self.supervisor.start(processes[name])
        self._wait_for_services(processes)
        self._step("prepare", [sys.executable, "-m", "portal.local.prepare"])
        for name, process in processes.items():
            if name not in SERVICES and not self.supervisor.stopping:
                self.supervisor.start(process)
        self._wait_until_ready()

    def _step(self, name: str, command: list[str]) -> None:
        with contextlib.suppress(FileNotFoundError):
            (self.data / "logs" / f"{name}.log").unlink()
        if not self.supervisor.stopping:
            self.supervisor.run_once(name, command)

    def _choose_ports(self) -> None:
        """Keep the ports of the last start where they are free, so that addresses rarely change."""
        chosen = self.installed.setdefault("ports", {})
        for name in SERVICES:
            if name not in chosen or not ports.is_free(chosen[name]):
                chosen[name] = ports.free()
        secrets.write(self.data / secrets.FILE, self.installed)

    def _services(self) -> dict[str, str]:
        """Return the settings of a demo on one machine; what stands in the environment wins over them."""
        made, chosen = self.installed, self.installed["ports"]
        return {
            "DATABASE_URL": postgres.url(chosen["postgres"], made["postgres_password"]),
            "REDIS_URL": redis.url(chosen["redis"], made["redis_password"]),
            "SECRET_KEY": made["secret_key"],
            "SEALING_KEYS": made["sealing_keys"],
            "METRICS_KEY": made["metrics_key"],
            "PUBLIC_URL": self.address,
            "DEMO": "1",
            "EMBEDDED_SITE": "1",
            "TEST_GATEWAY": "1",
            "STAFF_MFA": "0",
            "EMAIL_VERIFICATION": "none",
            "EMAIL_BACKEND": "django.core.mail.backends.filebased.EmailBackend",
        }

    def _procfile(self) -> dict[str, Process]:
        """Return the processes of the Procfile, without those that the environment replaces."""
        left_out = {
            "postgres": bool(os.environ.get("DATABASE_URL")),
            "redis": bool(os.environ.get("REDIS_URL")),
            "embedded": os.environ.get("EMBEDDED_SITE", "1").lower() in {"0", "false", "no", "off"},
        }
        found = {}
        for line in (discover.PROJECT / "Procfile").read_text().splitlines():
            name, _, words = line.partition(":")
            if not words or left_out.get(name):
                continue
            command = shlex.split(words)
            if command[0] == "python":
                command[0] = sys.executable
            else:  # gunicorn and celery: the ones of this environment
                command[:1] = [sys.executable, "-m", command[0]]
            how = signal.SIGINT if name == "postgres" else signal.SIGTERM
            door = (self.door.fileno(),) if name == "web" else ()
            found[name] = Process(name, command, stop_signal=how, grace=GRACE.get(name, 12.0), hands_on=door)
        return found

    def _wait_for_services(self, processes: dict[str, Process]) -> None:
        chosen = self.installed["ports"]
        for name, service in (("postgres", postgres), ("redis", redis)):
            if name in processes and not self.supervisor.stopping:
                process = processes[name]
                try:
                    service.wait(
                        chosen[name],
                        self.installed[f"{name}_password"],
                        alive=lambda process=process: process.alive and not self.supervisor.stopping,
                    )
                except CannotRun as error:
                    if not self.supervisor.stopping:
                        raise CannotRun(f"{error}\n{self.supervisor.last_lines(name)}") from error

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + READY_SECONDS
        said = "no answer yet"
        while not self.supervisor.stopping:
            with contextlib.suppress(OSError):
                try:
                    with urllib.request.urlopen(f"{self.address}/readyz", timeout=5):
                        return
                except urllib.error.HTTPError as error:
                    said = error.read().decode(errors="replace")
            if time.monotonic() > deadline:
                raise CannotRun(
                    f"it is not ready after {READY_SECONDS} seconds: {said}\nLogs: {self.data}/logs"
                )
            self.supervisor.look_after(seconds=0.1)

    def _tell(self) -> None:
        seconds = time.monotonic() - self.began
        _say(f"\nReady after {seconds:.1f} s: {self.address}\n")
        _say("Demo sign-ins (this installation's own, kept in installation.json):")
        for email, word in self.installed["demo_passwords"].items():
            _say(f"  {email:24} {word}")
        _say(f"\nMail goes to {self.data}/mail, logs to {self.data}/logs.")
        user = osuser.for_services()
        if user is not None:
            _say(f"Started as root: PostgreSQL and Redis run as {user.name}, jobs as users of their own.")
        _say("The embedded site runs jobs as processes of this machine; it is a demo and no sandbox.")
        _say("Ctrl-C ends everything.")


def _say(text: str) -> None:
    """Print at once; a terminal or pipe that is gone must not keep the processes from being ended."""
    with contextlib.suppress(OSError):
        print(text, flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make run", description="Run Berth on this machine.")
    parser.add_argument("--port", type=int, default=8000, help="port of the web pages on 127.0.0.1")
    options = parser.parse_args()
    if not 1 <= options.port <= 65535:
        parser.error(f"{options.port} is not a port; choose one from 1024 to 65535")
    return options


if __name__ == "__main__":
    sys.exit(main())
