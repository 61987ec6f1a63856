"""What processes do for the cluster they run in: signs of life for probes, shards, health by address."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import redis
from celery import signals
from django.core.management import CommandError, call_command
from django.test import Client

from core import heartbeat, ids
from jobs.services import collector
from portal import celery, env
from tests.support import tree


def _ask(folder: Path, name: str, seconds: int = 60) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-I", "-S", "core/alive.py", name, str(seconds)],
        cwd=tree.ROOT,
        env={"HEARTBEAT_DIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path, settings: object) -> Path:
    settings.HEARTBEAT_DIR = str(tmp_path)  # type: ignore[attr-defined]
    return tmp_path


def test_a_process_that_beats_is_alive(folder: Path) -> None:
    heartbeat.beat("watcher")
    assert _ask(folder, "watcher").returncode == 0


def test_a_process_lives_while_redis_is_away(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Away:
        def set(self, *args: object, **kwargs: object) -> None:
            raise redis.ConnectionError("away")

    monkeypatch.setattr(heartbeat, "_client", Away)
    assert heartbeat.beat("watcher") is False
    assert _ask(folder, "watcher").returncode == 0


def test_a_silent_process_is_not_alive(folder: Path) -> None:
    heartbeat.beat("watcher")
    long_ago = time.time() - 61
    os.utime(folder / "watcher", (long_ago, long_ago))
    asked = _ask(folder, "watcher")
    assert asked.returncode == 1
    assert "no sign of life for 61 seconds" in asked.stderr
    assert _ask(folder, "watcher", 120).returncode == 0


def test_a_process_that_never_beat_is_not_alive(folder: Path) -> None:
    asked = _ask(folder, "collector")
    assert asked.returncode == 1
    assert "yet" in asked.stderr


def test_a_folder_that_cannot_be_written_stops_nothing(tmp_path: Path, settings: object) -> None:
    settings.HEARTBEAT_DIR = str(tmp_path / "missing")  # type: ignore[attr-defined]
    assert heartbeat.beat("watcher") is True


def test_worker_and_beat_say_that_they_live(folder: Path) -> None:
    signals.heartbeat_sent.send(sender=None)
    assert _ask(folder, "worker").returncode == 0
    celery._beat_lives()
    assert _ask(folder, "beat").returncode == 0


def test_shards_share_all_runs_about_evenly() -> None:
    runs = [ids.new("run") for _ in range(2000)]
    for shards in (1, 2, 5):
        sizes = [0] * shards
        for run in runs:
            sizes[collector.of(run, shards)] += 1
        assert min(sizes) > 0.7 * len(runs) / shards


@pytest.mark.parametrize(("shard", "shards"), [(2, 2), (-1, 1), (0, 0)])
def test_a_shard_that_is_none_is_refused(shard: int, shards: int) -> None:
    with pytest.raises(CommandError, match="--shard is a number from 0"):
        call_command("collect", shard=shard, shards=shards)


@pytest.mark.django_db
def test_web_is_ready_without_the_processes_that_it_can_do_without(client: Client) -> None:
    assert client.get("/readyz").status_code == 503
    answer = client.get("/readyz?exclude=worker&exclude=watcher")
    assert answer.status_code == 200
    assert set(answer.json()["parts"]) == {"database", "migrations", "redis"}


def test_a_pod_answers_to_its_own_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POD_IP", "10.0.0.7,fd00::7")
    assert env.hosts("POD_IP") == ["10.0.0.7", "[fd00::7]"]
