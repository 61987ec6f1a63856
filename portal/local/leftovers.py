"""Ends what an earlier start left behind when its supervisor was killed: by id, and only if it is ours."""

import contextlib
import json
import os
import signal
import subprocess
import time
from pathlib import Path

from portal.local import secrets
from portal.local.supervisor import Process

FILE = "processes.json"


def remember(data: Path, processes: list[Process]) -> None:
    """Note the running processes: how each ends, and when it began as the system tells it."""
    noted = {}
    for process in processes:
        if process.alive and process.child is not None and (began := _began(process.child.pid)):
            noted[str(process.child.pid)] = [began, int(process.stop_signal)]
    secrets.write(data / FILE, noted)


def end(data: Path, seconds: float = 20) -> int:
    """End noted processes that still run; return how many."""
    try:
        noted = json.loads((data / FILE).read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        return 0
    ours = [(int(pid), began, number) for pid, (began, number) in noted.items() if _began(int(pid)) == began]
    for pid, _, number in ours:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
    deadline = time.monotonic() + seconds
    for pid, began, _ in ours:
        while _began(pid) == began and time.monotonic() < deadline:
            time.sleep(0.05)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
    (data / FILE).unlink(missing_ok=True)
    return len(ours)


def _began(pid: int) -> str:
    """Return when a process began, empty when it is gone: a process id alone may belong to another by now."""
    if Path("/proc/self/stat").exists():
        try:
            after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            return ""
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return "" if after_name[0] == "Z" else f"{boot} {after_name[19]}"
    shown = subprocess.run(
        ["/bin/ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    stat, *began = shown.stdout.split() or ["Z"]
    return "" if stat.startswith("Z") else " ".join(began)
