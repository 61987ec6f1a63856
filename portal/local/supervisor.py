"""Starts the processes of one machine, starts again what falls over, ends the services after the others.

Each process has a session of its own, so a Ctrl-C reaches this one alone and the order is kept.
"""

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from portal.local.errors import CannotRun

RESTARTS = 5  # within the window; more means that starting again does not help
WINDOW = 60.0
LOG_BYTES = 20_000_000


@dataclass
class Process:
    """One line of the Procfile: what to run, how to end it, how long it may take to end."""

    name: str
    command: list[str]
    stop_signal: signal.Signals = signal.SIGTERM
    grace: float = 10.0
    service: bool = False  # what the others stand on: ends after them
    hands_on: tuple[int, ...] = ()  # open files that the process inherits
    child: subprocess.Popen[bytes] | None = None
    starts: list[float] = field(default_factory=list)

    @property
    def alive(self) -> bool:
        """Say whether the process runs at this moment."""
        return self.child is not None and self.child.poll() is None


class Supervisor:
    """Keeps processes running until it is told to stop; their output goes to files in ``logs``."""

    def __init__(self, *, folder: Path, logs: Path, environment: Mapping[str, str]) -> None:
        self.folder = folder
        self.logs = logs
        self.environment = dict(environment)
        self.processes: list[Process] = []
        self.changed: Callable[[list[Process]], None] = lambda processes: None
        self._stop = threading.Event()
        self._hurry = False

    def listen(self) -> None:
        """Take Ctrl-C, the end of the terminal and SIGTERM as the wish to stop; a second one hurries."""
        signal.signal(signal.SIGINT, self._asked)
        signal.signal(signal.SIGTERM, self._asked)
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup wants it ignored
            signal.signal(signal.SIGHUP, self._asked)

    @property
    def stopping(self) -> bool:
        """Say whether somebody asked to stop."""
        return self._stop.is_set()

    def start(self, process: Process) -> None:
        """Start a process and keep it."""
        if process not in self.processes:
            self.processes.append(process)
        process.starts = [t for t in process.starts if t > time.monotonic() - WINDOW] + [time.monotonic()]
        with self._log(process.name).open("ab") as log:
            process.child = subprocess.Popen(
                process.command,
                cwd=self.folder,
                env=self.environment | {"BERTH_PROCESS": process.name},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                pass_fds=process.hands_on,
            )
        self.changed(self.processes)

    def run_once(self, name: str, command: list[str]) -> None:
        """Run a command to its end; a failure shows its last lines."""
        process = Process(name, command)
        self.start(process)
        try:
            while process.alive:
                self.look_after(except_for=process)
                if self.stopping:
                    return
        finally:
            self._end([process])
            self.processes.remove(process)
        if process.child is not None and process.child.returncode:
            raise CannotRun(f"{name} failed:\n{self.last_lines(name)}")

    def look_after(self, *, except_for: Process | None = None, seconds: float = 0.05) -> None:
        """Start again what ended by itself; pause for a moment."""
        for process in self.processes:
            if process is except_for or process.alive or self.stopping:
                continue
            if len(process.starts) > RESTARTS:
                raise CannotRun(
                    f"{process.name} ended {RESTARTS} times within a minute; its last lines:\n"
                    f"{self.last_lines(process.name)}"
                )
            pause = 0.0 if len(process.starts) == 1 else 0.5 * 2 ** (len(process.starts) - 2)
            if time.monotonic() - process.starts[-1] > pause:
                self._kill_group(process)
                self.start(process)
        self._stop.wait(seconds)

    def stop(self) -> None:
        """End everything, the services last; what does not end in its grace is killed."""
        self._stop.set()
        for service in (False, True):
            self._end([process for process in self.processes if process.service is service])
        self.processes.clear()
        self.changed([])

    def last_lines(self, name: str, count: int = 12) -> str:
        """Return the end of a process's log."""
        try:
            lines = self._log(name).read_text(errors="replace").splitlines()
        except FileNotFoundError:
            return ""
        return "\n".join(f"  {line}" for line in lines[-count:])

    def _asked(self, number: int, frame: object) -> None:
        self._hurry = self._stop.is_set()
        self._stop.set()

    def _end(self, processes: list[Process]) -> None:
        """Ask processes to end, all at once, and wait for each as long as its grace."""
        asked = time.monotonic()
        for process in processes:
            if process.alive and process.child is not None:
                with contextlib.suppress(ProcessLookupError):
                    process.child.send_signal(process.stop_signal)
        for process in processes:
            while process.alive and time.monotonic() < asked + process.grace and not self._hurry:
                time.sleep(0.02)
            self._kill_group(process)
            if process.child is not None:
                process.child.wait()

    @staticmethod
    def _kill_group(process: Process) -> None:
        """Kill what a process left in its group: the group outlives its leader."""
        if process.child is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.child.pid, signal.SIGKILL)

    def _log(self, name: str) -> Path:
        file = self.logs / f"{name}.log"
        with contextlib.suppress(FileNotFoundError):
            if file.stat().st_size > LOG_BYTES:
                file.replace(file.with_suffix(".log.1"))
        return file
