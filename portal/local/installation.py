"""The data folder of one installation: made, checked and locked before anything starts."""

import fcntl
import os
from pathlib import Path
from typing import TextIO

from portal.local import binaries
from portal.local.errors import CannotRun


def prepare(data: Path) -> TextIO:
    """Make the folder, refuse one that cannot be used, and return its lock: held until it is closed."""
    try:
        data.mkdir(mode=0o711, parents=True, exist_ok=True)
        (data / "logs").mkdir(mode=0o700, exist_ok=True)
    except FileExistsError as error:
        raise CannotRun(f"{error.filename} is a file, but Berth keeps its data in a folder there.") from error
    except OSError as error:
        raise CannotRun(
            f"The data folder {data} cannot be made: {error.strerror}. "
            "Name another one: BERTH_DATA=/some/folder make run"
        ) from error
    owner = data.stat().st_uid
    if owner != os.geteuid():
        raise CannotRun(
            f"The data folder {data} belongs to another user (number {owner}). Start Berth as that user, "
            "or name another folder: BERTH_DATA=/some/folder make run"
        )
    if not os.access(data, os.R_OK | os.W_OK | os.X_OK):
        raise CannotRun(f"The data folder {data} cannot be written. Check its permissions.")
    if os.geteuid() == 0:
        data.chmod(0o711)  # users of the services pass through it; what it holds stays closed
    _check_version(data)
    return _lock(data)


def _lock(data: Path) -> TextIO:
    file = (data / "lock").open("a+")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        file.seek(0)
        holder = file.read().strip()
        file.close()
        raise CannotRun(
            f"Berth already runs with the data folder {data}"
            + (f" (process {holder})" if holder else "")
            + ". End it with Ctrl-C there, or name another folder: BERTH_DATA=/some/folder make run"
        ) from error
    file.truncate(0)
    file.write(str(os.getpid()))
    file.flush()
    return file


def _check_version(data: Path) -> None:
    file = data / "postgres" / "PG_VERSION"
    if not file.exists():
        return
    found, ours = file.read_text().strip(), binaries.postgres_major()
    if found != ours:
        raise CannotRun(
            f"The database in {data} was made by PostgreSQL {found}, but this Berth brings {ours}. "
            "Go back to the version that made it, or move the folder away to begin anew."
        )
