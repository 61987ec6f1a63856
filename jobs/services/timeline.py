"""Writes the timeline of a job: what happened, by whom."""

from datetime import datetime
from typing import Any

from core.actors import Actor
from jobs.models import Job, JobEvent, Run

BERTH = Actor.system("Berth")


def record(
    job: Job, kind: str, *, now: datetime, run: Run | None = None, actor: Actor = BERTH, **values: Any
) -> None:
    """Write one event inside the caller's transaction; ``values`` fill the sentence of ``jobs/words.py``."""
    event(job, kind, now=now, run=run, actor=actor, **values).save(force_insert=True)


def event(
    job: Job, kind: str, *, now: datetime, run: Run | None = None, actor: Actor = BERTH, **values: Any
) -> JobEvent:
    """Return what `record` writes, for a caller who writes it together with its own rows."""
    if run is not None:
        values.setdefault("run", run.number)
    return JobEvent(job=job, run=run, at=now, kind=kind, actor=actor.label[:254], values=values)
