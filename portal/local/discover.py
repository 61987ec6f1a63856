"""Finds the services that `make run` started on this machine, so that every command uses the same ones."""

import json
import os
from pathlib import Path

SERVICES_FILE = "services.json"


def data_dir() -> Path:
    """Return the folder that holds all data of this installation: ``BERTH_DATA`` or ``var``."""
    return Path(os.environ.get("BERTH_DATA") or Path(__file__).resolve().parents[2] / "var")


def services() -> dict[str, str]:
    """Return the environment of the running local services: addresses and secrets, or nothing."""
    file = data_dir() / SERVICES_FILE
    try:
        found = json.loads(file.read_text())
    except (FileNotFoundError, NotADirectoryError, PermissionError, json.JSONDecodeError):
        return {}
    return {str(name): str(value) for name, value in found.items()}
