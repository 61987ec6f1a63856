"""What comes out of a job over REST: log, curves, timeline, checkpoints."""

from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.base import BerthAPIView
from core import errors
from core.rest import pagination
from jobs import reads, shapes
from jobs.api import serializers
from jobs.api.jobs import job_of
from jobs.services import curves, insight, logs

LINES_MOST = 10_000


class LogsView(BerthAPIView):
    """`GET jobs/{id}/logs`."""

    rights = {"GET": "jobs:read"}

    @extend_schema(
        operation_id="jobs_logs",
        parameters=[
            OpenApiParameter("run", str, description="A run's id; the latest without it."),
            OpenApiParameter("replica", str, description="Such as master-0; all without it."),
            OpenApiParameter("after", str, description="The cursor of an earlier answer."),
            OpenApiParameter("limit", {"type": "integer", "minimum": 1, "maximum": LINES_MOST}),
            OpenApiParameter(
                "tail",
                {"type": "integer", "minimum": 1, "maximum": LINES_MOST},
                description="The last lines.",
            ),
        ],
        responses=serializers.LogSerializer,
    )
    def get(self, request: Request, job_id: str) -> Response:
        """Return lines of a run's log; each replica's are in order and complete."""
        params = request.query_params
        run = reads.run_of(job_of(self, job_id), params.get("run"))
        replica = params.get("replica") or None
        if "tail" in params:
            chunk = logs.tail(run, _count(params["tail"], "tail"), replica=replica)
        else:
            limit = _count(params.get("limit", "1000"), "limit")
            chunk = logs.read(run, after=params.get("after") or None, limit=limit, replica=replica)
        return Response(chunk.answer())


class EventsView(BerthAPIView):
    """`GET jobs/{id}/events`."""

    rights = {"GET": "jobs:read"}
    paged = True

    @extend_schema(
        operation_id="jobs_events", responses=pagination.page_serializer(serializers.EventSerializer)
    )
    def get(self, request: Request, job_id: str) -> Response:
        """Return the timeline, oldest first."""
        rows = reads.events(job_of(self, job_id))
        page = pagination.paginate(rows, request.query_params, oldest_first=True)
        return Response(page.answer(shapes.event))


class CheckpointsView(BerthAPIView):
    """`GET jobs/{id}/checkpoints`."""

    rights = {"GET": "jobs:read"}
    paged = True

    @extend_schema(
        operation_id="jobs_checkpoints",
        responses=pagination.page_serializer(serializers.CheckpointSerializer),
    )
    def get(self, request: Request, job_id: str) -> Response:
        """Return the checkpoints of all runs, newest first."""
        page = pagination.paginate(reads.checkpoints(job_of(self, job_id)), request.query_params)
        return Response(page.answer(shapes.checkpoint))


class FindingsView(BerthAPIView):
    """`GET jobs/{id}/findings`."""

    rights = {"GET": "jobs:read"}

    @extend_schema(
        operation_id="jobs_findings", responses=pagination.page_serializer(serializers.FindingSerializer)
    )
    def get(self, request: Request, job_id: str) -> Response:
        """Return what went wrong in the newest run, the cause first; they are few, on one page."""
        found = insight.of_job(job_of(self, job_id))
        return Response({"items": [shapes.finding(one) for one in found], "next": None})


class MetricsView(BerthAPIView):
    """`GET jobs/{id}/metrics`."""

    rights = {"GET": "jobs:read"}

    @extend_schema(
        operation_id="jobs_metrics",
        parameters=[
            OpenApiParameter("names", str, description="Names with commas between; all without it."),
            OpenApiParameter("run", str, description="Only this run; the whole curve of the job without it."),
        ],
        responses=serializers.MetricsSerializer,
    )
    def get(self, request: Request, job_id: str) -> Response:
        """Return curves read from the log, thinned to what a chart can show."""
        job = job_of(self, job_id)
        names = [name for name in request.query_params.get("names", "").split(",") if name]
        run_id = request.query_params.get("run")
        run = reads.run_of(job, run_id) if run_id else None
        return Response(shapes.metrics(curves.read(job, names=names or None, run=run)))


def _count(text: str, field: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 6 and 1 <= int(text) <= LINES_MOST):
        raise errors.Invalid.field(
            field, "out_of_range", _("A whole number from 1 to %(most)d.") % {"most": LINES_MOST}
        )
    return int(text)
