"""Curves of a job, stitched over its runs and thinned to what a chart can show."""

from collections.abc import Sequence
from datetime import datetime

from django.db import connection

from jobs.models import Job, Run

POINTS = 1000
Curve = list[tuple[int, datetime, float | None]]

# Of each bucket of steps the last point is kept. Where a run was resumed, the earlier runs' points beyond
# the step it began at belong to a past that was left: only the run that covers a step now is shown.
_SQL = """
WITH chosen AS (
    SELECT p.name, p.step, p.at, p.value
    FROM jobs_metricpoint p
    JOIN unnest(%(runs)s::text[], %(first)s::bigint[], %(last)s::bigint[]) AS r(id, first, last)
      ON r.id = p.run_id AND p.step > r.first AND p.step <= r.last
    WHERE %(names)s::text[] IS NULL OR p.name = ANY(%(names)s)
), counted AS (
    SELECT c.*, row_number() OVER (PARTITION BY name ORDER BY step) AS place,
           count(*) OVER (PARTITION BY name) AS total
    FROM chosen c
)
SELECT name, step, at, value FROM counted
WHERE total <= %(points)s OR place = 1 OR place = total OR place %% ceil(total::numeric / %(points)s) = 0
ORDER BY name, step
"""
ENDLESS = 2**62


def read(
    job: Job, *, names: Sequence[str] | None = None, run: Run | None = None, points: int = POINTS
) -> dict[str, Curve]:
    """Return the curves of a job, or of one run of it, by name."""
    spans = [(run.pk, -1, ENDLESS)] if run is not None else _spans(job)
    found: dict[str, Curve] = {name: [] for name in names or ()}
    with connection.cursor() as cursor:
        cursor.execute(
            _SQL,
            {
                "runs": [span[0] for span in spans],
                "first": [span[1] for span in spans],
                "last": [span[2] for span in spans],
                "names": list(names) if names else None,
                "points": points,
            },
        )
        for name, step, at, value in cursor.fetchall():
            found.setdefault(name, []).append((step, at, value))
    return found


def _spans(job: Job) -> list[tuple[str, int, int]]:
    """Return which steps of which run make the curve: each run up to where a later one began."""
    spans = []
    last = ENDLESS
    rows = Run.objects.filter(job=job).exclude(started_at=None).order_by("-number")
    for run_id, step in rows.values_list("pk", "resume_from__step"):
        first = -1 if step is None else step
        if first < last:
            spans.append((run_id, first, last))
            last = first
        if last < 0:
            break
    return spans
