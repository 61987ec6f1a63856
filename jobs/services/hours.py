"""GPU time of runs by the hour: written again it gives the same rows."""

from datetime import datetime

from jobs import metering
from jobs.models import Run, RunHour


def write(run: Run, *, until: datetime) -> int:
    """Write the hours of a run from its start up to a moment and return its GPU seconds so far.

    The end of a run may be told late: what was counted behind it goes again.
    """
    if run.started_at is None:
        return 0
    hours = metering.cut([metering.Interval(run.started_at, until, run.job.gpus)])
    rows = [
        RunHour(
            organisation_id=run.organisation_id,
            job_id=run.job_id,
            run=run,
            hour=hour.start,
            gpu_seconds=hour.gpu_seconds,
        )
        for hour in hours
    ]
    RunHour.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["run", "hour"], update_fields=["gpu_seconds"]
    )
    counted = RunHour.objects.filter(run=run)
    (counted.filter(hour__gt=hours[-1].start) if hours else counted).delete()
    return metering.total(hours)
