"""Runs one pod: init containers, then the main one, as a process of its own that outlives the supervisor.

Started as a script (`python -I -S shim.py <pod folder>`), so it imports the standard library alone. It
holds a lock on the folder while anything of the pod lives, and leaves `exit.json` as its last word.
"""

import contextlib
import ctypes
import fcntl
import json
import os
import resource
import select
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

MAX_PIECE = 16 * 1024  # as the container runtimes cut lines
READ = 256 * 1024
SUBREAPER, DEATH_SIGNAL = 36, 1  # prctl numbers, linux/prctl.h


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Replace a file at once: readers see the old or the new one, also after a power cut."""
    temporary = path.with_name(path.name + ".tmp")
    with temporary.open("w") as file:
        json.dump(value, file)
        file.flush()
        os.fsync(file.fileno())
    temporary.rename(path)


class Log:
    """Appends `<time> F|P <text>` lines; P marks a piece of a line that goes on."""

    def __init__(self, path: Path, limit: int) -> None:
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._room = limit
        self._rest = b""

    def feed(self, data: bytes) -> None:
        stamp, out = now().encode(), bytearray()
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            line = self._cut(out, stamp, line)
            out += b"%b F %b\n" % (stamp, line)
        self._rest = self._cut(out, stamp, self._rest)
        self._write(out)

    def flush(self) -> None:
        """Write a last line that no newline ended."""
        if self._rest:
            self.feed(b"\n")

    def close(self) -> None:
        os.close(self._fd)

    def _cut(self, out: bytearray, stamp: bytes, line: bytes) -> bytes:
        while len(line) > MAX_PIECE:
            end = MAX_PIECE
            while end > MAX_PIECE - 3 and line[end] & 0xC0 == 0x80:  # not inside a UTF-8 character
                end -= 1
            out += b"%b P %b\n" % (stamp, line[:end])
            line = line[end:]
        return line

    def _write(self, out: bytes | bytearray) -> None:
        if self._room <= 0 or not out:
            return
        self._room -= len(out)
        if self._room <= 0:
            out += b"%b F [the log has reached its limit; what follows is dropped]\n" % now().encode()
        view = memoryview(out)
        with contextlib.suppress(OSError):  # a full disk must not end the training
            while view:
                view = view[os.write(self._fd, view) :]


class Shim:
    """The life of one pod."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.plan: dict[str, Any] = json.loads((folder / "plan.json").read_text())
        self.log = Log(folder / "log", int(self.plan["log_limit"]))
        self.stopping = False
        self.kill_at: float | None = None
        self.group = 0
        self.code: int | None = None
        self.signals, writer = os.pipe()
        os.set_blocking(self.signals, False)
        os.set_blocking(writer, False)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda *_: None)  # a handler, since an ignored signal is inherited
        signal.signal(signal.SIGTERM, lambda *_: self._stop())
        _prctl(SUBREAPER, 1)
        for name, value in self.plan["limits"].items():
            number = getattr(resource, f"RLIMIT_{name}")
            hard = resource.getrlimit(number)[1]
            if hard != resource.RLIM_INFINITY:
                value = min(value, hard)
            resource.setrlimit(number, (value, value))

    def run(self) -> None:
        started = now()
        result: dict[str, Any] = {}
        for step in self.plan["steps"]:
            started = now()
            result = self._step(step)
            if result["exit_code"] != 0 or self.stopping:
                break
        result |= {"started_at": started, "finished_at": now(), "stopped": self.stopping}
        self.log.close()
        write_json(self.folder / "exit.json", result)

    def _step(self, step: dict[str, Any]) -> dict[str, Any]:
        said = {"step": step["name"], "init": step["init"], "message": ""}
        if self.stopping:
            return said | {"exit_code": 143, "reason": "Error"}
        reader, writer = os.pipe()
        self.code = None
        user: dict[str, Any] | None = self.plan["user"]
        identity: dict[str, Any] = (
            {} if user is None else {"user": user["uid"], "group": user["gid"], "extra_groups": []}
        )
        try:
            process = subprocess.Popen(
                step["argv"],
                cwd=step["cwd"],
                env=step["env"],
                stdin=subprocess.DEVNULL,
                stdout=writer,
                stderr=writer,
                start_new_session=True,
                umask=0o022,
                preexec_fn=lambda: _prctl(DEATH_SIGNAL, signal.SIGKILL),
                **identity,
            )
        except (OSError, ValueError, IndexError) as error:
            os.close(reader)
            os.close(writer)
            return said | {"exit_code": 128, "reason": "StartError", "message": f"cannot start: {error}"}
        os.close(writer)
        self.group = process.pid
        write_json(
            self.folder / "state.json",
            {
                "pid": os.getpid(),
                "group": process.pid,
                "step": step["name"],
                "init": step["init"],
                "started_at": now(),
            },
        )
        self._poke()
        if self.stopping:
            self._signal(signal.SIGTERM)  # it came between the start and the group being known
        self._follow(reader, process.pid)
        process.returncode = self.code
        self.group = 0
        code = self.code or 0
        return said | {
            "exit_code": 128 - code if code < 0 else code,
            "reason": "Completed" if code == 0 else "Error",
            "message": f"ended by signal {-code}" if code < 0 else "",
        }

    def _follow(self, reader: int, main: int) -> None:
        """Copy output until the main process has ended and nothing that it started is left."""
        os.set_blocking(reader, False)
        is_open = True
        while True:
            left = self._reap(main)
            if self.code is not None:
                self._signal(signal.SIGKILL)  # as when the first process of a container ends
                if not left:
                    break
                _kill_children()
            elif self.kill_at is not None and time.monotonic() >= self.kill_at:
                self._signal(signal.SIGKILL)
            watched = [self.signals, reader] if is_open else [self.signals]
            ready, _, _ = select.select(watched, [], [], self._patience())
            if self.signals in ready:
                with contextlib.suppress(BlockingIOError):
                    os.read(self.signals, 4096)
            if reader in ready:
                is_open = self._copy(reader)
        while is_open and select.select([reader], [], [], 0)[0]:
            is_open = self._copy(reader)
        self.log.flush()
        os.close(reader)

    def _patience(self) -> float | None:
        if self.code is not None:
            return 0.02
        return None if self.kill_at is None else max(0.01, self.kill_at - time.monotonic())

    def _copy(self, reader: int) -> bool:
        try:
            data = os.read(reader, READ)
        except BlockingIOError:
            return True
        self.log.feed(data)
        return bool(data)

    def _reap(self, main: int) -> bool:
        """Collect ended children, adopted ones too; say whether any is left."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == main:
                self.code = os.waitstatus_to_exitcode(status)

    def _stop(self) -> None:
        """SIGTERM: pass it on once, and shorten the grace when asked again."""
        try:
            grace = float((self.folder / "grace").read_text())
        except (OSError, ValueError):
            grace = float(self.plan["grace"])
        deadline = time.monotonic() + grace
        self.kill_at = deadline if self.kill_at is None else min(self.kill_at, deadline)
        if not self.stopping:
            self.stopping = True
            self._signal(signal.SIGTERM)

    def _signal(self, number: int) -> None:
        if self.group:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.group, number)

    def _poke(self) -> None:
        with contextlib.suppress(OSError):
            fd = os.open(self.plan["wake"], os.O_WRONLY | os.O_NONBLOCK)
            os.write(fd, b"!")
            os.close(fd)


def _kill_children() -> None:
    """SIGKILL what still hangs on this process: daemons of the pod come to it as orphans."""
    me = str(os.getpid())
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, IndexError):
            if entry.read_text().rpartition(")")[2].split()[1] == me:
                os.kill(int(entry.parent.name), signal.SIGKILL)


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def main(folder: Path) -> int:
    lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    for attempt in range(50):  # the supervisor's look at the lock takes it for a moment
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            if attempt == 49:
                return 0  # another shim runs this pod
            time.sleep(0.02)
    if (folder / "state.json").exists() or (folder / "exit.json").exists():
        return 0  # it has run; a pod never runs twice
    shim = Shim(folder)
    shim.run()
    os.close(lock)
    shim._poke()
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
