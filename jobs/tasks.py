"""Hints for the workers and the step of the beat; all of it may run twice or never without harm."""

from celery import shared_task
from django.utils import timezone

from jobs.services import due, launch, pruning, queue


@shared_task(name="jobs.admit")
def admit(cluster_id: str) -> None:
    """Start what fits on a cluster."""
    queue.admit(cluster_id, now=timezone.now())


@shared_task(name="jobs.launch")
def launch_run(run_id: str) -> None:
    """Hand a run to its site."""
    launch.launch(run_id, now=timezone.now())


@shared_task(name="jobs.step")
def step(run_id: str) -> None:
    """Take a run one step further."""
    due.step(run_id, now=timezone.now())


@shared_task(name="jobs.prune")
def prune(job_id: str) -> None:
    """Remove checkpoints that a job keeps no longer."""
    pruning.remove(job_id, now=timezone.now())


@shared_task(name="jobs.process_due")
def process_due() -> None:
    """Find the runs whose time has come."""
    due.process(now=timezone.now())
