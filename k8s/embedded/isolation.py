"""The OS user of pods: an own one when the site runs as root. It keeps accidents small, it is no sandbox."""

import os
import pwd
import shutil
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path

DEFAULT_USER = "berth-pod"


@dataclass(frozen=True, slots=True)
class PodUser:
    """Who pods run as."""

    name: str
    uid: int
    gid: int


def find_user(name: str, folders: list[Path]) -> tuple[PodUser | None, str]:
    """Return the user for pods, made if it is missing, or None and a sentence that says why not.

    Without root, pods run as the one who started the site; there is nothing to choose or to say.
    """
    if os.geteuid() != 0:
        return None, ""
    for folder in folders:
        if (wall := closed_part(folder)) is not None:
            return None, (
                f"Pods run as root, since {wall} is closed to other users. "
                "Put the state of the embedded site where others may pass through."
            )
    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        useradd = shutil.which("useradd")
        if useradd is None:
            return None, f"Pods run as root, since there is no user {name} and no useradd to make it."
        command = [
            useradd,
            "--system",
            "--user-group",
            "--no-create-home",
            "--shell",
            "/usr/sbin/nologin",
            name,
        ]
        made = subprocess.run(command, capture_output=True, text=True, check=False)
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            return None, f"Pods run as root, since the user {name} could not be made: {made.stderr.strip()}"
    return PodUser(name, entry.pw_uid, entry.pw_gid), ""


def closed_part(path: Path) -> Path | None:
    """Return the first folder on the way to a path that other users may not pass through."""
    real = path.resolve()
    for part in [*reversed(real.parents), real]:
        if part.is_dir() and not part.stat().st_mode & stat.S_IXOTH:
            return part
    return None


def give(path: Path, user: PodUser | None, mode: int) -> None:
    """Hand a file or folder of a pod to its user; a symbolic link in its place is not followed."""
    if user is not None:
        os.chown(path, user.uid, user.gid, follow_symlinks=False)
    if not path.is_symlink():
        path.chmod(mode)
