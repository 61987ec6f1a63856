"""`make run` from end to end: ready, found by manage.py, a second start refused, everything ended."""

import json
import os
import signal
from collections.abc import Iterator

import pytest

from portal.local import ports
from tests.support import whole
from tests.support.wait import until

pytestmark = [pytest.mark.kill, pytest.mark.timeout(600), pytest.mark.xdist_group("run")]


@pytest.fixture
def portal() -> Iterator[whole.Portal]:
    with whole.in_own_folder("run") as portal:
        yield portal


def _passwords(portal: whole.Portal) -> dict[str, str]:
    return json.loads((portal.data / "installation.json").read_text())["demo_passwords"]


@pytest.mark.skipif(not whole.PROC, reason="looks for processes in /proc")
def test_run_from_nothing_to_nothing_left(portal: whole.Portal) -> None:
    portal.start()
    portal.wait_until_ready()
    said = portal.said()
    for email, password in _passwords(portal).items():
        assert email in said
        assert password in said
    assert oct((portal.data / "installation.json").stat().st_mode & 0o777) == "0o600"
    assert oct((portal.data / "services.json").stat().st_mode & 0o777) == "0o600"

    assert portal.is_ready()
    token = portal.manage("issue_token", "demo@berth.example", "--scope", "jobs:read").strip()
    assert token.startswith("berth_")

    for mark in ("celery --quiet --app portal worker", "manage.py watch", "pginstall/bin/postgres -D"):
        killed = portal.leader(mark)
        os.kill(killed, signal.SIGKILL)
        until(lambda mark=mark, killed=killed: portal.leader(mark) not in {0, killed}, whole.START_SECONDS)
    until(portal.is_ready, whole.START_SECONDS)

    second = portal.again(ports.free())
    assert second.returncode == 1
    assert "already runs" in second.stderr
    assert "Traceback" not in second.stderr

    passwords = _passwords(portal)
    assert portal.stop() == 0
    assert portal.processes() == []
    assert not (portal.data / "services.json").exists()

    portal.start()
    portal.wait_until_ready()
    assert _passwords(portal) == passwords
    assert portal.child is not None
    portal.child.kill()  # the supervisor is lost; the next start ends what it left
    portal.child.wait()
    assert portal.processes() != []
    portal.start()
    portal.wait_until_ready()
    assert "interrupted start" in portal.said()
    assert portal.stop() == 0
    assert portal.processes() == []
