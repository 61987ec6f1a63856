"""Finds the services that `make run` started on this machine, so that every command uses the same ones."""

import hashlib
import json
import os
from pathlib import Path

SERVICES_FILE = "services.json"
PROJECT = Path(__file__).resolve().parents[2]


def data_dir() -> Path:
    """Return the folder that holds all data of this installation.

    ``BERTH_DATA``, else ``var`` in the project. When root runs a project below a private home, the
    services have users of their own who could not reach it: then it is a folder in ``/var/lib``.
    """
    if given := os.environ.get("BERTH_DATA"):
        return Path(given)
    if os.geteuid() == 0 and not _others_can_pass(PROJECT):
        return Path("/var/lib") / f"berth-{hashlib.sha256(str(PROJECT).encode()).hexdigest()[:8]}"
    return PROJECT / "var"


def services() -> dict[str, str]:
    """Return the environment of the running local services: addresses and secrets, or nothing."""
    file = data_dir() / SERVICES_FILE
    try:
        found = json.loads(file.read_text())
    except (FileNotFoundError, NotADirectoryError, PermissionError, json.JSONDecodeError):
        return {}
    return {str(name): str(value) for name, value in found.items()}


def _others_can_pass(folder: Path) -> bool:
    return all(parent.stat().st_mode & 0o001 for parent in [folder, *folder.parents])
