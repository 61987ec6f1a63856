"""The supervisor of one machine: what falls over starts again, services end last, nothing is left behind."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from portal.local import leftovers, supervisor
from portal.local.errors import CannotRun
from portal.local.supervisor import Process, Supervisor
from tests.support.wait import until

FOREVER = "while :; do sleep 0.05; done"


@pytest.fixture
def keeper(tmp_path: Path) -> Iterator[Supervisor]:
    keeper = Supervisor(folder=tmp_path, logs=tmp_path, environment={"PATH": "/usr/bin:/bin"})
    yield keeper
    keeper.stop()


def _process(name: str, script: str, **more: object) -> Process:
    return Process(name, ["/bin/sh", "-c", script], **more)  # type: ignore[arg-type]


def _gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"


def test_services_end_after_what_stands_on_them(keeper: Supervisor, tmp_path: Path) -> None:
    ended = tmp_path / "ended"
    for name, service in (("database", True), ("web", False)):
        script = f"trap 'echo {name} >> {ended}; exit 0' TERM; touch {tmp_path}/{name}; {FOREVER}"
        keeper.start(_process(name, script, service=service))
    until(lambda: all((tmp_path / name).exists() for name in ("database", "web")))
    keeper.stop()
    assert ended.read_text().split() == ["web", "database"]


def test_what_ignores_its_signal_is_killed_with_its_children(keeper: Supervisor, tmp_path: Path) -> None:
    child = tmp_path / "child"
    stubborn = f"trap '' TERM; ({FOREVER}) & echo $! > {child}; {FOREVER}"
    keeper.start(_process("stubborn", stubborn, grace=0.2))
    until(lambda: child.exists() and child.read_text().strip())
    keeper.stop()
    pid = int(child.read_text())
    until(lambda: _gone(pid))


def test_what_falls_over_is_started_again(keeper: Supervisor, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    process = _process("web", f"echo x >> {runs}; {FOREVER}")
    keeper.start(process)
    until(runs.exists)
    assert process.child is not None
    first = process.child.pid
    os.kill(first, signal.SIGKILL)

    def started_again() -> bool:
        keeper.look_after()
        return runs.read_text().count("x") == 2

    until(started_again)
    assert process.child.pid != first


def test_what_falls_over_all_the_time_ends_the_rest_with_its_last_words(
    keeper: Supervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "RESTARTS", 2)
    keeper.start(_process("web", "echo no such table; exit 1"))

    def look() -> bool:
        keeper.look_after()
        return False

    with pytest.raises(CannotRun, match=r"web ended 2 times within a minute(.|\n)*no such table"):
        until(look, 20)


def test_a_step_that_fails_shows_its_last_lines(keeper: Supervisor) -> None:
    with pytest.raises(CannotRun, match=r"prepare failed:\n  migration 7 is wrong"):
        keeper.run_once("prepare", ["/bin/sh", "-c", "echo migration 7 is wrong; exit 3"])


def test_a_step_that_works_leaves_no_process(keeper: Supervisor) -> None:
    keeper.run_once("prepare", ["/bin/sh", "-c", "true"])
    assert keeper.processes == []


def test_a_big_log_is_put_aside(keeper: Supervisor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "LOG_BYTES", 10)
    (tmp_path / "web.log").write_text("what was said before")
    keeper.run_once("web", ["/bin/sh", "-c", "echo new"])
    assert (tmp_path / "web.log.1").read_text() == "what was said before"
    assert (tmp_path / "web.log").read_text() == "new\n"


def test_leftovers_of_a_lost_supervisor_are_ended(keeper: Supervisor, tmp_path: Path) -> None:
    process = _process("web", FOREVER)
    keeper.changed = lambda processes: leftovers.remember(tmp_path, processes)
    keeper.start(process)
    assert process.child is not None
    assert leftovers.end(tmp_path, seconds=5) == 1
    assert process.child.wait(timeout=5) != 0
    assert leftovers.end(tmp_path) == 0


def test_a_number_that_belongs_to_another_process_by_now_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / leftovers.FILE).write_text(f'{{"{os.getpid()}": ["long ago", {int(signal.SIGTERM)}]}}')
    assert leftovers.end(tmp_path) == 0
