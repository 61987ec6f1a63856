"""The virtual environment that pods find at the head of PATH: Python and numpy, never the portal's own."""

import hashlib
import importlib.util
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from k8s.embedded import isolation

MARKER = "berth-podenv.json"
OLDEST = (3, 11)
NAMES = ("python3.14", "python3.13", "python3.12", "python3.11", "python3")


@dataclass(frozen=True, slots=True)
class PodEnvironment:
    """Where `python` of pods is; `warning` says what is not as it should be, or nothing."""

    bin_folder: Path
    warning: str = ""


def ensure(
    path: Path, requirements: Path, *, shared: bool | None = None, system_site: bool = False
) -> PodEnvironment:
    """Build the environment unless it is there and up to date.

    `shared` (default: when root) asks for an interpreter that other users can execute. `system_site` lets
    pods see what that interpreter has installed, such as torch.
    """
    shared = os.geteuid() == 0 if shared is None else shared
    python = find_python(shared=shared)
    warning = ""
    if python is None:
        python = own_python()
        warning = (
            f"Pods run as root, since {python} is closed to other users and no other Python "
            f"{OLDEST[0]}.{OLDEST[1]} or newer is installed."
        )
    wanted = {
        "python": str(python.resolve()),
        "requirements": hashlib.sha256(requirements.read_bytes()).hexdigest(),
        "system_site": system_site,
    }
    found = PodEnvironment(path / "bin", warning)
    if _marker(path) == wanted and (path / "bin" / "python").exists():
        return found
    path.parent.mkdir(parents=True, exist_ok=True)
    options = ["--system-site-packages"] if system_site else []
    _run([str(python), "-I", "-m", "venv", "--without-pip", "--clear", *options, str(path)])
    try:
        _install(path, requirements)
    except subprocess.CalledProcessError as error:
        reason = (error.stderr or "").strip().splitlines()[-1:] or ["no reason given"]
        return PodEnvironment(found.bin_folder, f"{warning} Pods have no numpy: {reason[0]}".strip())
    (path / MARKER).write_text(json.dumps(wanted))
    return found


def own_python() -> Path:
    """Return the interpreter behind the portal's own environment."""
    return Path(getattr(sys, "_base_executable", sys.executable))


def find_python(*, shared: bool) -> Path | None:
    """Return our own interpreter, or with `shared` the first good one that other users can execute."""
    if not shared:
        return own_python()
    return next((python for python in [own_python(), *_others()] if _open_to_all(python)), None)


def _others() -> list[Path]:
    """Return every Python on the PATH and in the system's folders, by name and folder."""
    own = str(Path(sys.executable).parent)
    folders = [*os.environ.get("PATH", "").split(os.pathsep), "/usr/local/bin", "/usr/bin"]
    found = [Path(folder) / name for name in NAMES for folder in folders if folder and folder != own]
    return list(dict.fromkeys(python for python in found if os.access(python, os.X_OK)))


def _open_to_all(python: Path) -> bool:
    """Say whether another user can run it: the file, its library, and all folders on the way."""
    if isolation.closed_part(python.resolve()) is not None:
        return False
    script = "import sys, venv; print(sys.version_info[0], sys.version_info[1], sys.base_prefix)"
    try:
        answer = subprocess.run(
            [str(python), "-I", "-c", script], capture_output=True, text=True, check=True, timeout=20
        )
    except (OSError, subprocess.SubprocessError):
        return False
    major, minor, prefix = answer.stdout.strip().split(" ", 2)
    return (int(major), int(minor)) >= OLDEST and isolation.closed_part(Path(prefix)) is None


def _install(path: Path, requirements: Path) -> None:
    lines = requirements.read_text().splitlines()
    if any(line.strip() and not line.startswith("#") for line in lines):
        options = ["--quiet", "--require-hashes", "--only-binary=:all:"]
        _run([*_pip(path), "install", *options, "-r", str(requirements)])


def _pip(path: Path) -> list[str]:
    """Return the command of a pip that installs into the environment; ours if we have one."""
    python = str(path / "bin" / "python")
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check"]
    _run([python, "-I", "-m", "ensurepip"])
    return [python, "-m", "pip", "--disable-pip-version-check"]


def _run(command: list[str]) -> None:
    subprocess.run(command, capture_output=True, text=True, check=True, umask=0o022)


def _marker(path: Path) -> dict[str, object] | None:
    try:
        value: dict[str, object] = json.loads((path / MARKER).read_text())
    except (OSError, ValueError):
        return None
    return value
