"""What people are told about their jobs: a notification when one has succeeded or failed for good."""

from datetime import datetime

from accounts.services import notifications
from jobs import words
from jobs.models import Job, Run

KINDS = {"succeeded": ("job.succeeded", "good"), "failed": ("job.failed", "bad")}


def job_ended(job: Job, run: Run, *, now: datetime) -> None:
    """Tell the organisation how a job ended, once for each run that ended it."""
    kind, severity = KINDS[run.status]
    notifications.notify(
        organisation=job.organisation,
        kind=kind,
        severity=severity,
        params={"name": job.name, "reason": words.message(run.why)},
        link=f"/jobs/{job.pk}",
        once_key=f"{kind}:{run.pk}",
        now=now,
    )
