"""The log of a run on its page: the tail first, then what comes; search in the tail; the whole as a file."""

from collections.abc import Iterator
from typing import Any

from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.views.base import PageRequest, page
from jobs import reads
from jobs.models import Job, Run
from jobs.services import logs

TAIL = 300
SEARCHED = 5000
STEP = 500
FILE_STEP = 5000


def context(request: PageRequest, job: Job) -> dict[str, Any]:
    """Return the tail of the log of the chosen run, or the lines of it that hold the search word."""
    run = reads.run_of(job, request.GET.get("run"))
    names = logs.replicas(run) if run is not None else []
    replica = request.GET.get("replica", "")
    replica = replica if replica in names else ""
    word = request.GET.get("find", "").strip()[:200]
    chunk = logs.tail(run, SEARCHED if word else TAIL, replica=replica or None)
    lines = [line for line in chunk.lines if word.lower() in line.text.lower()] if word else chunk.lines
    return {
        "log_run": run,
        "log_runs": list(job.runs.all()),
        "log_lines": lines[-SEARCHED:],
        "log_after": chunk.after or "",
        "log_complete": chunk.complete,
        "log_replicas": names,
        "log_replica": replica,
        "log_find": word,
        "log_searched": SEARCHED,
        "log_many": len(names) != 1 and not replica,
    }


@require_safe
@page("jobs:read")
def more(request: PageRequest, job_id: str) -> HttpResponse:
    """Answer the lines behind the cursor, and the element that asks for the next ones."""
    job = reads.job(request.access.organisation, job_id)
    run = reads.run_of(job, request.GET.get("run"))
    replica = request.GET.get("replica", "")
    chunk = logs.read(run, after=request.GET.get("after"), limit=STEP, replica=replica or None)
    return render(
        request,
        "jobs/parts/log_more.html",
        {
            "job": job,
            "log_run": run,
            "log_lines": chunk.lines,
            "log_after": chunk.after or "",
            "log_complete": chunk.complete,
            "log_replica": replica,
            "log_find": "",
            "log_many": not replica and run is not None and len(logs.replicas(run)) != 1,
        },
    )


@require_safe
@page("jobs:read")
def download(request: PageRequest, job_id: str) -> HttpResponseBase:
    """Stream the whole log of a run as text."""
    job = reads.job(request.access.organisation, job_id)
    run = reads.run_of(job, request.GET.get("run"))
    replica = request.GET.get("replica", "") or None
    answer = StreamingHttpResponse(_all(run, replica), content_type="text/plain; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{run.object_name if run else job.pk}.log"'
    return answer


def _all(run: Run | None, replica: str | None) -> Iterator[str]:
    after = None
    while True:
        chunk = logs.read(run, after=after, limit=FILE_STEP, replica=replica)
        yield "".join(
            f"{line.time:%Y-%m-%dT%H:%M:%S.%fZ} {line.replica} {line.text}\n" for line in chunk.lines
        )
        if len(chunk.lines) < FILE_STEP:
            return
        after = chunk.after
