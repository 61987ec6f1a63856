"""A world to train in: a customer, a ready cluster on an embedded site, workers that step when told."""

import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

from django.utils import timezone

from accounts.access import Access
from accounts.models import Member
from clusters.models import Cluster, Node
from clusters.services import bookings, lifecycle, ports
from jobs import templates
from jobs.models import Job, Run
from jobs.services import collect, collector, demo, due, pruning, submit, watcher
from k8s.embedded import launch, processes
from k8s.embedded.supervisor import Supervisor
from tests.support import fleet, people, wait

Result = TypeVar("Result")


class World:
    """Everything in this process: the site's supervisor, beat and workers, watcher, collector."""

    def __init__(self, folder: Path, *, nodes: int = 2, gpus: int = 2) -> None:
        self.supervisor = Supervisor(
            launch.Settings(folder=folder, bin_folders=(Path(sys.executable).parent,))
        )
        self.port = ports.embedded()
        self.memory = collect.Memory()
        self.owner = people.member()
        self.organisation = self.owner.organisation
        self.access = access(self.owner)
        demo.seed(now=timezone.now())
        self.cluster = self.rent(nodes, gpus)
        self.site = self.cluster.site

    def rent(self, nodes: int = 2, gpus: int = 2) -> Cluster:
        """Return a ready cluster on new nodes, set up on the site by its own steps."""
        now = timezone.now()
        place, kind = fleet.pool(nodes, gpus_per_node=gpus)
        for node in Node.objects.filter(site=place):
            self.port.ensure_node(node.name, gpus=gpus, fabric=node.fabric_domain)
        made = fleet.hold(
            place,
            kind,
            number=nodes,
            start=now,
            end=now + timedelta(days=2),
            now=now,
            organisation=self.organisation,
        )
        bookings.confirm(cluster=made, now=now)
        lifecycle.step(made.pk, now)
        made.refresh_from_db()
        assert made.status == "ready", made.message
        return made

    def spec(self, code: str = "print('hello')", **fields: Any) -> dict[str, Any]:
        """Return a job spec for the cluster."""
        return {"cluster": self.cluster.pk, "code": {"inline": code}, **fields}

    def training(self, *options: str, **fields: Any) -> dict[str, Any]:
        """Return the spec of the NumPy example with options of its command line."""
        template = templates.get("char-lm-numpy")
        assert template is not None
        command = ["python", "main.py", "--log-every", "1", *options]
        return {**template.job_spec(self.cluster.pk), "command": command, **fields}

    def slow_until_resumed(self, *options: str, **fields: Any) -> dict[str, Any]:
        """Return a spec like `training`: its first run takes 0.4 s a step, so that a busy machine can still
        interrupt it, and a run that starts from a checkpoint takes no pause."""
        spec = self.training(*options, **fields)
        pace = 'if [ -n "$RESUME_FROM" ]; then pace=0; else pace=0.4; fi; exec "$@" --step-time "$pace"'
        return {**spec, "command": ["sh", "-c", pace, "sh", *spec["command"]]}

    def submit(self, spec: dict[str, Any] | None = None, **fields: Any) -> Job:
        """Submit a job as the owner."""
        return submit.submit(access=self.access, data=spec or self.spec(**fields), now=timezone.now())

    def tick(self, *, watch: bool = True, work: bool = True) -> None:
        """Let everybody do what can be done now."""
        self.supervisor.step()
        if work:
            for run_id in list(Run.objects.filter(due_at__lte=timezone.now()).values_list("pk", flat=True)):
                due.step(run_id, now=timezone.now())
            for job_id in pruning.waiting(now=timezone.now()):
                pruning.remove(job_id, now=timezone.now())
        if watch:
            watcher.resync(self.port, self.site)
            collector.once(self.memory)

    def until(self, condition: Callable[[], Result], seconds: float = 30) -> Result:
        """Tick until the condition holds."""

        def look() -> Result:
            self.tick()
            return condition()

        return wait.until(look, seconds)

    def status(self, job: Job) -> str:
        job.refresh_from_db()
        return job.status

    def ended(self, job: Job, seconds: float = 30) -> Job:
        """Tick until the job has ended, its log is collected and its GPUs are free."""
        self.until(lambda: self.status(job) in ("succeeded", "failed", "cancelled", "suspended"), seconds)
        self.until(lambda: not job.runs.filter(holds=True).exists(), seconds)
        self.until(lambda: not job.runs.filter(launched_at__isnull=False, collected=False).exists(), seconds)
        return job

    def used(self) -> int:
        self.cluster.refresh_from_db()
        return int(self.cluster.gpus_used)

    def kill(self, live: Any) -> None:
        """End a pod without any grace, as a crash of its node would."""
        processes.terminate(live.folder, 0)

    def close(self) -> None:
        for live in self.supervisor.kubelet.live.values():
            processes.terminate(live.folder, 0)
        self.supervisor.shut_down()
        self.supervisor.close()
        self.port.close()


def access(member: Member) -> Access:
    """Return what a page gives a service for this member."""
    return Access(member.user, member, member.organisation, member.role, None, people.actor(member))


def loss_by_step(job: Job, run: Run) -> dict[int, float]:
    """Return the loss curve of one run."""
    rows = run.points.filter(name="loss").order_by("step").values_list("step", "value")
    return {step: value for step, value in rows if value is not None}
