"""One job: where it stands and why, curves, log, checkpoints, runs, timeline; cancel, suspend, resume."""

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from accounts.views.base import PageRequest, page, refuse
from core import errors
from jobs import manifest, reads, shapes, states, words
from jobs.models import Job, Run
from jobs.services import control, curves, insight, plans
from jobs.views import log

THROUGHPUT = ("tokens_per_second", "samples_per_second", "steps_per_second")
CURVES = ("loss", "eval_loss", *THROUGHPUT)
STEPS = ("queued", "launching", "pending", "running")


@require_safe
@page("jobs:read")
def show(request: PageRequest, job_id: str) -> HttpResponse:
    """Show the whole page."""
    job = reads.job(request.access.organisation, job_id)
    context = _context(request, job) | log.context(request, job)
    return render(request, "jobs/job.html", context | {"spec": _pretty(job.spec), "manifest": _manifest(job)})


@require_safe
@page("jobs:read")
def live(request: PageRequest, job_id: str) -> HttpResponse:
    """Answer the parts that change; the head comes along when the state is another one."""
    context = _context(request, reads.job(request.access.organisation, job_id))
    context["swapped"] = True
    context["with_head"] = request.GET.get("seen") != context["seen"]
    return render(request, "jobs/parts/live.html", context)


@require_POST
@page("jobs:write")
def cancel(request: PageRequest, job_id: str) -> HttpResponse:
    """End a job for good."""
    return _act(request, job_id, lambda now: control.cancel(access=request.access, job_id=job_id, now=now))


@require_POST
@page("jobs:write")
def suspend(request: PageRequest, job_id: str) -> HttpResponse:
    """End the present run; the job can go on later."""
    return _act(request, job_id, lambda now: control.suspend(access=request.access, job_id=job_id, now=now))


@require_POST
@page("jobs:write")
def resume(request: PageRequest, job_id: str) -> HttpResponse:
    """Queue another run, from the chosen checkpoint or the newest."""
    chosen = request.POST.get("checkpoint", "")[:64] or None
    return _act(
        request,
        job_id,
        lambda now: control.resume(
            access=request.access,
            job_id=job_id,
            checkpoint_id=chosen,
            idempotency_key=request.key,
            now=now,
        ),
    )


def _act(request: PageRequest, job_id: str, act: Callable[[datetime], Job]) -> HttpResponse:
    try:
        act(timezone.now())
    except (errors.Conflict, errors.Invalid) as error:
        refuse(request, error)
    return redirect("jobs:job", job_id=job_id)


def _context(request: PageRequest, job: Job) -> dict[str, Any]:
    now = timezone.now()
    runs = list(job.runs.all())
    last = runs[-1] if runs else None
    waiting = reads.waiting([job], now=now).get(job.pk)
    found = curves.read(job, names=CURVES, points=240)
    may_write = request.access.allows("jobs:write")
    stopping = bool(last and last.stop and last.finished_at is None)
    checkpoints = reads.resumable(job)
    return {
        "now": now,
        "job": job,
        "runs": [_run(run, job, now) for run in reversed(runs)],
        "last": last,
        "why": shapes.reason_of(job, runs, waiting),
        "waiting": waiting,
        "findings": [shapes.finding(one) for one in insight.of_job(job)] if job.status == "failed" else [],
        "estimate": waiting.estimate if waiting else None,
        "progress": shapes.progress(job, last, now=now),
        "steps": _steps(job, last, waiting, now),
        "loss": _series(found, {"loss": _("training"), "eval_loss": _("validation")}),
        "pace": _pace(found),
        "checkpoints": checkpoints,
        "newest": checkpoints[0] if checkpoints else None,
        "events": [_event(row) for row in reads.events(job).order_by("-pk")[:200]],
        "open": job.status not in (*states.JOB_FINAL, "suspended") or _unfinished(last),
        "seen": f"{job.status}:{last.number if last else 0}:{int(stopping)}",
        "with_head": False,
        "swapped": False,
        "stopping": stopping,
        "may_cancel": may_write and job.status not in states.JOB_FINAL and not stopping,
        "may_suspend": may_write and job.status in reads.OPEN and not stopping,
        "may_resume": may_write and job.status in (*states.JOB_FINAL, "suspended"),
        "grace": manifest.GRACE_SECONDS,
    }


def _unfinished(last: Run | None) -> bool:
    """Say whether logs and checkpoints of the last run are still being brought in."""
    return last is not None and last.launched_at is not None and not last.collected


def _run(run: Run, job: Job, now: datetime) -> dict[str, Any]:
    end = run.finished_at or now
    return {
        "row": run,
        "why": words.say(run.why),
        "length": end - run.started_at if run.started_at else None,
        "gpu_hours": shapes.run(run, job, now=now)["gpu_seconds"] / 3600,
    }


def _event(row: Any) -> dict[str, Any]:
    return {"at": row.at, "text": words.event(row.kind, row.values), "actor": row.actor}


def _steps(job: Job, last: Run | None, waiting: Any, now: datetime) -> list[dict[str, Any]]:
    """Return the way of the latest run: what is over, where it stands, what usually comes next."""
    names = {
        "queued": _("Queued"),
        "launching": _("Handed over"),
        "pending": _("Starting"),
        "running": _("Training"),
    }
    usual = {
        "queued": "" if waiting is None else _("number {n} in the queue").format(n=waiting.position),
        "launching": _("usually a second"),
        "pending": _("usually a few seconds"),
        "running": "",
    }
    if last is None:
        return []
    over = last.status in states.RUN.final
    reached = _reached(last)
    since = {"queued": last.created_at, "launching": last.launched_at, "pending": last.launched_at}
    shown = []
    for index, word in enumerate(STEPS):
        state = (
            "done" if index < reached or (over and index == reached) else "now" if index == reached else ""
        )
        begun = since.get(word, last.started_at) or last.created_at
        note = usual[word] if state == "now" else ""
        shown.append({"name": names[word], "state": state, "for": now - begun, "note": note})
    ends = {
        "succeeded": ("done", _("Succeeded")),
        "failed": ("stopped", _("Failed")),
        "cancelled": ("stopped", _("Cancelled")),
        "suspended": ("paused", _("Suspended")),
    }
    state, name = ends.get(last.status, ("", _("Done")))
    return [*shown, {"name": name, "state": state, "for": None, "note": ""}]


def _reached(run: Run) -> int:
    if run.status in STEPS:
        return STEPS.index(run.status)
    if run.started_at:
        return 3
    return 1 if run.launched_at else 0


def _series(found: dict[str, curves.Curve], names: dict[str, str]) -> list[tuple[str, list[Any]]]:
    """Return curves as plain pairs of a name and its points, those without any left out."""
    return [
        (name, [(step, value) for step, _at, value in found[key]])
        for key, name in names.items()
        if found.get(key)
    ]


def _pace(found: dict[str, curves.Curve]) -> dict[str, Any]:
    """Return the curve of throughput with its unit, whichever the log gave."""
    units = {
        "tokens_per_second": _("tokens/s"),
        "samples_per_second": _("samples/s"),
        "steps_per_second": _("steps/s"),
    }
    for key in THROUGHPUT:
        if found.get(key):
            return {"series": _series(found, {key: _("throughput")}), "unit": units[key]}
    return {"series": [], "unit": units["tokens_per_second"]}


def _pretty(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, sort_keys=False)


def _manifest(job: Job) -> str:
    """Return the objects of the latest run as they go to the site, secrets hidden."""
    run = (
        Run.objects.filter(job=job)
        .select_related("job__cluster__site", "job__environment", "resume_from")
        .order_by("-number")
        .first()
    )
    if run is None:
        return ""
    return _pretty(manifest.build(plans.without_secrets(run))[-1])
