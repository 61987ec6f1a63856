"""A job that trains, fails once and goes on, with whoever works on it killed at chosen steps."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import AuditEntry, Notification
from jobs.models import Job, Run
from jobs.services import collect, collector, due, logs, submit, watcher
from k8s import errors
from tests.support import wait
from tests.support.training import World

KILLS = {1: "before", 2: "after", 4: "before", 7: "after"}  # calls of a step that end the work
CODE = """
import json, os, pathlib, sys
folder = pathlib.Path(os.environ["CHECKPOINT_DIR"])
came_from = os.environ.get("RESUME_FROM")
start = json.loads((pathlib.Path(came_from) / "DONE").read_text())["step"] if came_from else 0
for step in range(start + 1, 5):
    print(f"step: {step} loss: {1 / step:.4f}", flush=True)
    if step % 2 == 0:
        place = folder / f"step-{step}"
        place.mkdir(parents=True)
        (place / "state.bin").write_bytes(b"x" * step)
        (place / "DONE").write_text(json.dumps({"step": step, "loss": 1 / step}))
    if step == 3 and not came_from:
        sys.exit("lost my way")
"""
LOST = ["step: 1 loss: 1.0000", "step: 2 loss: 0.5000", "step: 3 loss: 0.3333", "lost my way"]
FOUND = ["step: 3 loss: 0.3333", "step: 4 loss: 0.2500"]


class Killed(BaseException):
    """Ends the work at a step, as a kill would: nobody handles it."""


def kill_at(patch: pytest.MonkeyPatch, owner: Any, name: str) -> Counter[str]:
    """Let several calls of a step end the work, before or after they did theirs; count what happened."""
    original: Callable[..., Any] = getattr(owner, name)
    seen: Counter[str] = Counter()

    def step(*args: Any, **kwargs: Any) -> Any:
        seen["calls"] += 1
        when = KILLS.get(seen["calls"])
        if when is None:
            return original(*args, **kwargs)
        seen[when] += 1
        if when == "after":
            original(*args, **kwargs)
        raise Killed(name)

    patch.setattr(owner, name, step)
    return seen


class Player:
    """Plays beat, workers, watcher and collector; who is killed is started again, and time passes."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.statuses: list[str] = []

    def submit(self) -> Job:
        """The customer clicks until there is an answer, always with the same key."""
        spec = self.world.spec(CODE, max_retries=1)

        def click() -> Job | None:
            return self._attempt(
                lambda: submit.submit(
                    access=self.world.access, data=spec, idempotency_key="click", now=timezone.now()
                )
            )

        return wait.until(click, 20)

    def rest(self, job: Job, seconds: float = 60) -> None:
        """Work until nothing of a job is due and nothing of it is left at the site."""

        def over() -> bool:
            self.tick()
            job.refresh_from_db()
            self.statuses.append(job.status)
            runs = list(job.runs.order_by("number"))
            ended = all(run.finished_at and run.collected and not run.holds for run in runs)
            return ended and all(run.due_at is None and not run.claim_token for run in runs)

        wait.until(over, seconds)

    def tick(self) -> None:
        """Everybody works once."""
        now = timezone.now()
        self.world.supervisor.step()
        Run.objects.exclude(claim_token="").update(claim_until=now)  # the claims of the dead run out
        Run.objects.filter(not_before__gt=now).update(not_before=now)
        waiting = Run.objects.filter(due_at__isnull=False)
        waiting.update(due_at=now)
        for run_id in list(waiting.order_by("pk").values_list("pk", flat=True)):
            self._attempt(lambda run_id=run_id: due.step(run_id, now=now))
        self._attempt(lambda: watcher.resync(self.world.port, self.world.site))
        if self._attempt(lambda: (collector.once(self.world.memory),)) is None:
            self.world.memory = collect.Memory()

    def _attempt(self, act: Callable[[], Any]) -> Any:
        """Do something; None when the one who does it was killed, or when the site was away."""
        try:
            return act()
        except (Killed, errors.Error):
            return None


def outcome(world: World, job: Job) -> dict[str, Any]:
    """Return what stands in the end, without ids and times."""
    job.refresh_from_db()
    runs = list(job.runs.select_related("resume_from").order_by("number"))
    events = Counter(job.events.exclude(kind="running").values_list("run__number", "kind"))
    return {
        "job": (job.status, job.step),
        "runs": [(run.number, run.cause, run.status, run.exit_code, run.failure_class) for run in runs],
        "from": [run.resume_from.step if run.resume_from else None for run in runs],
        "objects": [_made(world, run) for run in runs],
        "left": [name for _, name in world.port.list_objects(world.cluster.object_name) if "run-" in name],
        "logs": [_log(run) for run in runs],
        "losses": [sorted(run.points.filter(name="loss").values_list("step", flat=True)) for run in runs],
        "checkpoints": sorted(job.checkpoints.values_list("run__number", "step", "complete")),
        "hours": [sum(run.hours.values_list("gpu_seconds", flat=True)) == run.gpu_seconds for run in runs],
        "gpus": world.used(),
        "events": sorted(events.elements()),
        "audit": AuditEntry.objects.filter(target=job.pk).count(),
        "told": sorted(Notification.objects.filter(link=f"/jobs/{job.pk}").values_list("kind", flat=True)),
    }


def _log(run: Run) -> list[str]:
    chunk = logs.read(run, after=None, limit=1000)
    assert [line.n for line in chunk.lines] == list(range(1, len(chunk.lines) + 1))
    assert chunk.complete
    return [line.text for line in chunk.lines]


def _made(world: World, run: Run) -> tuple[int, int]:
    """Count the PyTorchJobs and the pods that there ever were for a run."""
    with world.port.store.read() as site:
        made = [
            {one.body["metadata"]["uid"] for one in site.changes(0, kind=kind) if run.object_name in one.name}
            for kind in ("PyTorchJob", "Pod")
        ]
    return len(made[0]), len(made[1])
