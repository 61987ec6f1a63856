"""The pods' own Python: built once, rebuilt when its recipe changes, and honest about what it lacks."""

import subprocess
from pathlib import Path

import pytest

from k8s.embedded import podenv


@pytest.fixture
def requirements(tmp_path: Path) -> Path:
    path = tmp_path / "pods.txt"
    path.write_text("# nothing\n")
    return path


def test_it_is_built_once(tmp_path: Path, requirements: Path) -> None:
    found = podenv.ensure(tmp_path / "podenv", requirements, shared=False)
    assert found.warning == ""
    script = "import sys; print(sys.prefix)"
    answer = subprocess.run(
        [found.bin_folder / "python", "-c", script], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == str(tmp_path / "podenv")
    marker = tmp_path / "podenv" / podenv.MARKER
    built = marker.stat().st_mtime_ns
    podenv.ensure(tmp_path / "podenv", requirements, shared=False)
    assert marker.stat().st_mtime_ns == built
    requirements.write_text("# still nothing\n")
    podenv.ensure(tmp_path / "podenv", requirements, shared=False)
    assert marker.stat().st_mtime_ns != built


def test_a_package_that_cannot_be_had_is_a_warning(
    tmp_path: Path, requirements: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    requirements.write_text("numpy==1.0 --hash=sha256:" + "0" * 64 + "\n")
    found = podenv.ensure(tmp_path / "podenv", requirements, shared=False)
    assert "Pods have no numpy" in found.warning
    assert (found.bin_folder / "python").exists()
    assert not (tmp_path / "podenv" / podenv.MARKER).exists()  # tried again at the next start


def test_a_python_for_others_lies_on_an_open_path() -> None:
    python = podenv.find_python(shared=True)
    if python is None:
        pytest.skip("this machine has no Python that other users can execute")
    real = python.resolve()
    assert all(part.stat().st_mode & 0o001 for part in [*real.parents, real])
