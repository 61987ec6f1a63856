"""The supervisor's hands on pods: start a shim, see whether it lives, stop it, clear up after a lost one."""

import contextlib
import fcntl
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from k8s.embedded import shim

MARK = "BERTH_POD"  # the environment name by which strays of a pod are found


def spawn(folder: Path) -> subprocess.Popen[bytes]:
    """Start the shim of a prepared pod folder in a session of its own."""
    with (folder / "shim.err").open("ab") as errors:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", str(Path(shim.__file__)), str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,
            cwd="/",
            env={"PATH": os.defpath, "LANG": "C.UTF-8"},
        )


def lives(folder: Path) -> bool:
    """Say whether a shim holds the folder: the kernel drops its lock with the process, however it ends."""
    try:
        fd = os.open(folder / "lock", os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return False


def state(folder: Path) -> dict[str, Any] | None:
    """Return what the shim last said of its present step, None before the first."""
    return _read(folder / "state.json")


def result(folder: Path) -> dict[str, Any] | None:
    """Return the shim's last word, None while there is none."""
    return _read(folder / "exit.json")


def terminate(folder: Path, grace_seconds: float) -> bool:
    """Send SIGTERM through the shim, which sends SIGKILL when the grace is over.

    False: there is nobody to tell yet.
    """
    (folder / "grace").write_text(str(grace_seconds))
    said = state(folder)
    if said is None or not lives(folder):
        return False
    with contextlib.suppress(ProcessLookupError):
        os.kill(said["pid"], signal.SIGTERM)
    return True


def kill(folder: Path, uid: str) -> None:
    """End the shim, if it lives, and all that carries the pod's mark, with SIGKILL."""
    said = state(folder)
    if said is not None and lives(folder):
        with contextlib.suppress(ProcessLookupError):
            os.kill(said["pid"], signal.SIGKILL)
    for pid in strays(uid):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def strays(uid: str) -> list[int]:
    """Return live processes that carry the pod's mark; found on Linux only."""
    mark, found = f"{MARK}={uid}".encode(), []
    for entry in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if mark in entry.read_bytes().split(b"\0"):
                found.append(int(entry.parent.name))
    return found


def _read(path: Path) -> dict[str, Any] | None:
    try:
        value: dict[str, Any] = json.loads(path.read_text())
    except FileNotFoundError:
        return None
    return value
