"""The embedded site as a process, and the command that starts it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from k8s.embedded.port import EmbeddedPort
from tests.k8s import manifests
from tests.support import wait

SERVE = """
import sys
from pathlib import Path
from k8s.embedded import serve
life = Path(sys.argv[1] + ".alive")
serve.serve(Path(sys.argv[1]), requirements=Path(sys.argv[2]), alive=life.touch)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_until_told_to_stop(tmp_path: Path, number: signal.Signals) -> None:
    requirements = tmp_path / "pods.txt"
    requirements.write_text("# nothing\n")
    root = Path(__file__).parents[2]
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE, str(tmp_path / "site"), str(requirements)],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        text=True,
    )
    port = EmbeddedPort(tmp_path / "site")
    try:
        port.apply(manifests.namespace())
        port.apply(manifests.job("run-a", ["python", "-c", "import sys; print(sys.prefix)"]))
        port.ensure_node("node-1", gpus=1)
        port.set_node_owner("node-1", "clu-a")
        wait.until(lambda: port.list_pytorchjobs()[0][0].condition("Succeeded"), 30)
        chunk = port.read_log("clu-a", "run-a-master-0", cursor=None, limit_bytes=1000)
        assert chunk.lines[0].text == str(tmp_path / "podenv")
    finally:
        process.send_signal(number)
        out, _ = process.communicate(timeout=20)
        port.close()
    assert process.returncode == 0
    assert (tmp_path / "site.alive").exists()
    assert "The embedded site runs in" in out


def test_the_command_says_that_the_site_is_off(settings) -> None:
    settings.EMBEDDED_SITE = False
    with pytest.raises(CommandError, match="EMBEDDED_SITE=1"):
        call_command("embedded")
