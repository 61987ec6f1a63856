"""Rows of training as the API shows them: plain dictionaries, no query of their own."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from core.rest.fields import z
from jobs import findings, words
from jobs.models import Checkpoint, Environment, Job, JobEvent, Run, Secret, Upload
from jobs.queueing import Waiting
from jobs.reasons import reason

PRIORITY_WORDS = {-1: "low", 0: "normal", 1: "high"}
_STOPPING = {
    "cancelled": "being_cancelled",
    "suspended": "being_suspended",
    "deadline": "being_stopped",
    "cluster": "being_drained",
}


def job(row: Job, runs: list[Run], waiting: Waiting | None, *, now: datetime) -> dict[str, Any]:
    """Return a job; ``runs`` oldest first, ``waiting`` what its cluster's queue says of it."""
    estimate = waiting.estimate if waiting else None
    return {
        "id": row.pk,
        "name": row.name,
        "cluster": row.cluster_id,
        "project": row.project.slug,
        "environment": row.environment.slug,
        "status": row.status,
        "reason": reason_of(row, runs, waiting),
        "priority": PRIORITY_WORDS[row.priority],
        "gpus": row.gpus,
        "queue_position": waiting.position if waiting else None,
        "estimated_start": z(estimate.latest) if estimate else None,
        "estimated_start_earliest": z(estimate.earliest) if estimate else None,
        "created_at": z(row.created_at),
        "started_at": time(row.started_at),
        "finished_at": time(row.finished_at),
        "spec": row.spec,
        "runs": [run(one, row, now=now) for one in runs],
        "progress": progress(row, runs[-1] if runs else None, now=now),
    }


def reason_of(row: Job, runs: list[Run], waiting: Waiting | None) -> str:
    """Return why a job is in its state, in one sentence; empty where the state says it all."""
    last = runs[-1] if runs else None
    if last is not None and last.stop and last.finished_at is None:
        return str(reason(_STOPPING[last.stop]))
    if waiting is not None:
        return str(waiting.reason)
    if row.status == "launching":
        return str(reason("launching"))
    if row.status in ("pending", "running"):
        return words.say(last.why) if last else ""
    return words.say(row.why)


def run(row: Run, of: Job, *, now: datetime) -> dict[str, Any]:
    """Return a run; GPU seconds of one that still runs are counted up to now."""
    seconds = row.gpu_seconds
    if row.started_at is not None and row.finished_at is None:
        seconds = int((now - row.started_at).total_seconds()) * of.gpus
    return {
        "id": row.pk,
        "number": row.number,
        "status": row.status,
        "reason": words.say(row.why),
        "failure_class": row.failure_class or None,
        "exit_code": row.exit_code,
        "started_at": time(row.started_at),
        "finished_at": time(row.finished_at),
        "resume_from": row.resume_from_id,
        "gpu_seconds": max(0, seconds),
    }


def progress(row: Job, last: Run | None, *, now: datetime) -> dict[str, Any]:
    """Return how far a job is; the time left follows the pace of its present run."""
    step, total = row.step, row.total_steps
    ratio = min(1.0, step / total) if step is not None and total else None
    eta = None
    if last is not None and last.status == "running" and last.started_at and step is not None and total:
        begun = last.resume_from.step if last.resume_from is not None else 0
        spent = (now - last.started_at).total_seconds()
        if step > begun and total > step:
            eta = _end(now, spent / (step - begun) * (total - step))
    return {"step": step, "total_steps": total, "ratio": ratio, "eta": eta}


def _end(now: datetime, seconds: float) -> str | None:
    """Return a moment ahead, None for one beyond the calendar: a log may promise any number of steps."""
    try:
        return z((now + timedelta(seconds=seconds)).replace(microsecond=0))
    except OverflowError:
        return None


def event(row: JobEvent) -> dict[str, Any]:
    """Return an entry of the timeline."""
    return {
        "id": row.pk,
        "time": z(row.at),
        "kind": row.kind,
        "actor": row.actor,
        "message": words.event(row.kind, row.values),
        "run": row.run_id,
    }


def finding(one: findings.Finding) -> dict[str, Any]:
    """Return a finding in the reader's language."""
    severity, title, advice, source = findings.WORDS[one.code]
    return {
        "code": one.code,
        "severity": severity,
        "title": str(title),
        "evidence": [{"n": line.n, "replica": line.replica, "text": line.text} for line in one.evidence],
        "advice": str(advice),
        "source": source,
    }


def checkpoint(row: Checkpoint) -> dict[str, Any]:
    """Return a checkpoint of the registry."""
    return {
        "id": row.pk,
        "run": row.run_id,
        "step": row.step,
        "layout": row.layout,
        "key": row.key,
        "bytes": row.bytes,
        "complete": row.complete,
        "created_at": z(row.created_at),
        "metric": row.metric,
        "gone_at": time(row.gone_at),
        "backups": [],
    }


def environment(row: Environment, sites: list[str], usable: bool) -> dict[str, Any]:
    """Return an environment and where it runs."""
    return {
        "slug": row.slug,
        "title": row.title,
        "framework": row.framework,
        "version": row.version,
        "cuda": row.cuda or None,
        "sites": sites,
        "usable": usable,
        "default": row.is_default,
    }


def upload(row: Upload) -> dict[str, Any]:
    """Return an upload."""
    return {
        "id": row.pk,
        "name": row.name,
        "format": row.format,
        "bytes": row.bytes,
        "sha256": row.sha256,
        "created_at": z(row.created_at),
    }


def secret(row: Secret) -> dict[str, Any]:
    """Return a secret without its value, which nobody reads back."""
    return {"name": row.name, "created_at": z(row.created_at), "updated_at": z(row.updated_at)}


def time(value: datetime | None) -> str | None:
    """Return a time, or null."""
    return None if value is None else z(value)


def metrics(curves: Mapping[str, list[tuple[int, datetime, float | None]]]) -> dict[str, Any]:
    """Return curves by name: step, time, value; a value that is no number is null."""
    return {
        "metrics": {
            name: [[step, z(at), value] for step, at, value in curve] for name, curve in curves.items()
        }
    }
