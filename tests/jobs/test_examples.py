"""The examples as a user starts them: two replicas learn, stop on SIGTERM, and go on from any checkpoint."""

import importlib.util
import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from jobs import jobspec, logparse, templates
from tests.support import fleet, wait

FOLDER = templates.FOLDER
TORCH = os.environ.get("BERTH_TORCH_PYTHON") or (sys.executable if importlib.util.find_spec("torch") else "")
NEEDS_TORCH = pytest.mark.skipif(
    not TORCH, reason="BERTH_TORCH_PYTHON names no Python with torch; .ci/run makes one"
)
pytestmark = pytest.mark.timeout(700)  # two Pythons with torch start slowly on a busy machine
EXAMPLES = ["char-lm-numpy", pytest.param("char-lm-torch", marks=NEEDS_TORCH)]


class Gang:
    """Both replicas of a run as processes, with the environment that the operator sets."""

    def __init__(self, example: str, folder: Path, *options: str, resume: str = "") -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        folder.mkdir()
        self.logs = [folder / f"{rank}.log" for rank in (0, 1)]
        self.processes = []
        for rank in (0, 1):
            environment = {
                **os.environ,
                "MASTER_ADDR": "127.0.0.1",
                "MASTER_PORT": str(port),
                "RANK": str(rank),
                "WORLD_SIZE": "2",
                "CHECKPOINT_DIR": str(folder),
                "RESUME_FROM": resume,
            }
            python = TORCH if example == "char-lm-torch" else sys.executable
            command = [python, str(FOLDER / example / "main.py"), "--log-every", "1", *options]
            with self.logs[rank].open("w") as log:
                self.processes.append(
                    subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)
                )

    def wait(self) -> list[int]:
        return [process.wait(300) for process in self.processes]

    def losses(self) -> dict[int, float]:
        """Read the curve as the portal does."""
        parser = logparse.Parser()
        lines = self.logs[0].read_text().splitlines()
        points = [p for n, line in enumerate(lines, 1) for p in parser.feed(n, fleet.NOW, line)]
        return {point.step: point.value for point in points if point.name == "loss" and point.value}


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_learns_and_resumes_exactly(example: str, tmp_path: Path) -> None:
    whole = Gang(example, tmp_path / "a", "--steps", "60", "--checkpoint-every", "20")
    assert whole.wait() == [0, 0], whole.logs[0].read_text()
    losses = whole.losses()
    assert list(losses) == list(range(1, 61))
    assert losses[60] < 0.7 * losses[1]
    for step in (20, 40, 60):
        marker = json.loads((tmp_path / "a" / f"step-{step}" / "DONE").read_text())
        assert marker == {"step": step, "loss": pytest.approx(losses[step], abs=1e-5)}
    again = Gang(example, tmp_path / "b", "--steps", "60", resume=str(tmp_path / "a" / "step-40"))
    assert again.wait() == [0, 0], again.logs[0].read_text()
    assert again.losses() == {step: value for step, value in losses.items() if step > 40}


@pytest.mark.parametrize("example", EXAMPLES)
def test_sigterm_writes_a_checkpoint_on_all_replicas(example: str, tmp_path: Path) -> None:
    gang = Gang(example, tmp_path / "a", "--steps", "10000", "--step-time", "0.01")
    wait.until(lambda: re.search(r"step: +5 ", gang.logs[0].read_text()), 60)
    gang.processes[1].send_signal(signal.SIGTERM)  # one of them is enough
    assert gang.wait() == [143, 143], gang.logs[0].read_text()
    last = max(gang.losses())
    assert (tmp_path / "a" / f"step-{last}" / "DONE").exists()
    assert not list((tmp_path / "a").glob(".step-*"))


def test_templates_are_valid_specs() -> None:
    for template in templates.all_templates():
        assert template.title in templates.TITLES
        assert template.summary in templates.SUMMARIES
        spec = jobspec.parse(template.job_spec("clu_x"))
        assert spec.code == jobspec.Inline(template.code)
        assert jobspec.warnings(spec) == []
    assert templates.get("nothing") is None
