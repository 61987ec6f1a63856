"""The user of the local services: PostgreSQL refuses to run as root, so root lends it one."""

import os
import pwd
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from portal.local.errors import CannotRun

NAME = "berth-services"


@dataclass(frozen=True, slots=True)
class OsUser:
    """A user that a service runs as."""

    name: str
    uid: int
    gid: int


def for_services() -> OsUser | None:
    """Return the user to switch to: None for an ordinary user, an own system user (made once) for root."""
    if os.geteuid() != 0:
        return None
    try:
        found = pwd.getpwnam(NAME)
    except KeyError:
        _create()
        found = pwd.getpwnam(NAME)
    return OsUser(found.pw_name, found.pw_uid, found.pw_gid)


def _create() -> None:
    command = shutil.which("useradd") or shutil.which("useradd", path="/usr/sbin:/sbin")
    if command is None:
        raise CannotRun(
            "PostgreSQL refuses to run as root and this system has no useradd to make a user for it. "
            "Start Berth as an ordinary user."
        )
    made = subprocess.run(
        [command, "--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin", NAME],
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode not in {0, 9}:  # 9: somebody else made it meanwhile
        raise CannotRun(f"The user {NAME} could not be made: {made.stderr.strip()}")


def others_can_reach(path: Path) -> bool:
    """Say whether a user who is neither owner nor in the group can open what lies at ``path``."""
    path = path.resolve()
    return all(folder.stat().st_mode & 0o001 for folder in [path, *path.parents] if folder.is_dir())


def give(path: Path, user: OsUser | None) -> None:
    """Make ``path`` belong to the user; nothing to do without one."""
    if user is not None:
        os.chown(path, user.uid, user.gid)
