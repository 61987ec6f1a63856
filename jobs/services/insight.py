"""Findings of a job: of its newest run, from its end and its log."""

from jobs import findings
from jobs.models import Job
from jobs.services import logs


def of_job(job: Job) -> list[findings.Finding]:
    """Return what is certain about the newest run; nothing while it runs."""
    run = job.runs.order_by("-number").first()
    if run is None or run.status != "failed":
        return []
    lines = [findings.Line(line.n, line.replica, line.text) for line in logs.tail(run, findings.LINES).lines]
    return findings.find(
        findings.Ended(
            failed=True,
            stopped=bool(run.stop),
            infrastructure=run.failure_class == "infrastructure",
            exit_code=run.exit_code,
            lines=lines,
        )
    )
