"""What keeps the portal from starting is said in a sentence, before anything runs."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from portal.local import binaries, discover, installation, osuser, ports, postgres, secrets
from portal.local.errors import CannotRun
from tests.support import tree


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def _start(data: Path, port: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "portal.local.run", "--port", str(port)],
        cwd=tree.ROOT,
        env={"PATH": os.environ["PATH"], "BERTH_DATA": str(data)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_busy_port(data: Path) -> None:
    with ports.listen(0) as taken:
        port = taken.getsockname()[1]
        started = _start(data, port)
    assert started.returncode == 1
    assert f"port {port} is in use" in started.stderr
    assert f"PORT={port + 1}" in started.stderr
    assert "Traceback" not in started.stderr


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    started = _start(tmp_path / "file" / "data", ports.free())
    assert started.returncode == 1
    assert "cannot be made" in started.stderr
    assert "Traceback" not in started.stderr


def test_a_file_in_place_of_the_folder(data: Path) -> None:
    data.write_text("")
    with pytest.raises(CannotRun, match="is a file"):
        installation.prepare(data)


def test_a_database_of_another_version(data: Path) -> None:
    (data / "postgres").mkdir(parents=True)
    (data / "postgres" / "PG_VERSION").write_text("9\n")
    with pytest.raises(CannotRun, match=rf"PostgreSQL 9, but this Berth brings {binaries.postgres_major()}"):
        installation.prepare(data)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a folder away")
def test_a_folder_of_another_user(data: Path) -> None:
    data.mkdir()
    os.chown(data, 12345, 12345)
    with pytest.raises(CannotRun, match="belongs to another user"):
        installation.prepare(data)


def test_a_second_start_with_the_same_data(data: Path) -> None:
    with installation.prepare(data):
        started = _start(data, ports.free())
    assert started.returncode == 1
    assert f"already runs with the data folder {data} (process {os.getpid()})" in started.stderr


def test_secrets_are_made_once_and_kept_closed(data: Path) -> None:
    data.mkdir()
    made = secrets.load(data)
    assert secrets.load(data) == made
    assert (data / secrets.FILE).stat().st_mode & 0o777 == 0o600
    assert set(made["demo_passwords"]) == set(secrets.PEOPLE)
    assert len(set(made["demo_passwords"].values())) == len(secrets.PEOPLE)


def test_damaged_secrets(data: Path) -> None:
    data.mkdir()
    (data / secrets.FILE).write_text("{")
    with pytest.raises(CannotRun, match="is damaged"):
        secrets.load(data)


def test_lost_secrets_of_a_database(data: Path) -> None:
    (data / "postgres").mkdir(parents=True)
    (data / "postgres" / "PG_VERSION").write_text(binaries.postgres_major())
    with pytest.raises(CannotRun, match="is missing"):
        secrets.load(data)


def test_the_data_folder_is_named_by_the_environment(monkeypatch: pytest.MonkeyPatch, data: Path) -> None:
    monkeypatch.setenv("BERTH_DATA", str(data))
    assert discover.data_dir() == data


@pytest.mark.parametrize(
    ("root", "open_folder", "in_project"), [(0, True, True), (0, False, False), (1000, False, True)]
)
def test_the_data_folder_of_root_leaves_private_homes(
    monkeypatch: pytest.MonkeyPatch, root: int, open_folder: bool, in_project: bool
) -> None:
    monkeypatch.delenv("BERTH_DATA")
    monkeypatch.setattr(discover.os, "geteuid", lambda: root)
    monkeypatch.setattr(discover, "_others_can_pass", lambda folder: open_folder)
    found = discover.data_dir()
    assert (found == discover.PROJECT / "var") is in_project
    assert in_project or found.parent == Path("/var/lib")


def test_services_are_found_while_they_run(monkeypatch: pytest.MonkeyPatch, data: Path) -> None:
    monkeypatch.setenv("BERTH_DATA", str(data))
    assert discover.services() == {}
    data.mkdir()
    (data / discover.SERVICES_FILE).write_text(json.dumps({"REDIS_URL": "redis://here", "DEMO": 1}))
    assert discover.services() == {"REDIS_URL": "redis://here", "DEMO": "1"}


def test_a_closed_folder_is_seen(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    assert osuser.others_can_reach(tmp_path) is False
    assert osuser.others_can_reach(Path("/usr/bin")) is True


def test_a_half_written_database_is_made_anew() -> None:
    folder = Path(tempfile.mkdtemp(dir="/tmp", prefix="berth-half-"))
    folder.chmod(0o711)
    try:
        half = folder / "postgres"
        half.mkdir()
        (half / "PG_VERSION").write_text(binaries.postgres_major())
        postgres.initialise(half, "secret", durable=False)
        assert (half / "global" / "pg_control").exists()
        before = (half / "global" / "pg_control").stat().st_mtime_ns
        postgres.initialise(half, "secret", durable=False)
        assert (half / "global" / "pg_control").stat().st_mtime_ns == before
    finally:
        shutil.rmtree(folder)
