"""Where an embedded site keeps things: one folder, laid out here and nowhere else."""

from pathlib import Path


def pod(folder: Path, uid: str) -> Path:
    """Return the folder of a pod: plan, state, exit, log, home, tmp and its own volumes."""
    return folder / "pods" / uid


def log(folder: Path, uid: str) -> Path:
    return pod(folder, uid) / "log"


def namespace(folder: Path, name: str) -> Path:
    """Return the folder of a namespace's claims."""
    return folder / "claims" / name


def claim(folder: Path, namespace_name: str, name: str) -> Path:
    return namespace(folder, namespace_name) / name


def supervisor_lock(folder: Path) -> Path:
    return folder / "supervisor.lock"
