"""Jobs over REST: submit, dry run, list, read, cancel, suspend, resume."""

from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.base import BerthAPIView
from core import errors
from core.rest import pagination
from core.rest.serializers import EmptySerializer
from jobs import reads, shapes
from jobs.api import serializers
from jobs.models import Job, Run
from jobs.services import control, dryrun, submit

FILTERS = ("status", "cluster", "project", "name")


class JobsView(BerthAPIView):
    """`GET jobs` and `POST jobs`."""

    rights = {"GET": "jobs:read", "POST": "jobs:write"}
    paged = True

    @extend_schema(
        operation_id="jobs_list",
        parameters=[OpenApiParameter(name, str) for name in FILTERS],
        responses=pagination.page_serializer(serializers.JobSerializer),
    )
    def get(self, request: Request) -> Response:
        """Return jobs, newest first; ``status`` takes several words with commas between."""
        filters = {name: request.query_params[name] for name in FILTERS if name in request.query_params}
        page = pagination.paginate(reads.jobs(self.organisation, filters), request.query_params)
        shown = {one["id"]: one for one in reads.shown(page.items, now=timezone.now())}
        return Response(page.answer(lambda row: shown[row.pk]))

    @extend_schema(
        operation_id="jobs_submit",
        request=serializers.JobSpecSerializer,
        parameters=[OpenApiParameter("dry_run", bool, description="Plan only, store nothing.")],
        responses={201: serializers.JobSerializer, 200: serializers.PlanSerializer},
    )
    def post(self, request: Request) -> Response:
        """Submit a job; with ``dry_run=true`` only say what would happen."""
        now = timezone.now()
        if _flag(request, "dry_run"):
            return Response(dryrun.plan(access=self.access, data=request.data, now=now))
        row = submit.submit(access=self.access, data=request.data, idempotency_key=key_of(request), now=now)
        # What was just written is shown without asking the queue: its place is known a moment later.
        runs = getattr(row, "new_runs", None) or list(Run.objects.filter(job=row).order_by("number"))
        return Response(shapes.job(row, runs, None, now=now), status=201)


class JobView(BerthAPIView):
    """`GET jobs/{id}`."""

    rights = {"GET": "jobs:read"}

    @extend_schema(operation_id="jobs_read", responses=serializers.JobSerializer)
    def get(self, request: Request, job_id: str) -> Response:
        """Return a job with its runs, its place in the queue and its progress."""
        return Response(_show(self, job_id))


class CancelView(BerthAPIView):
    """`POST jobs/{id}/cancel`."""

    rights = {"POST": "jobs:write"}

    @extend_schema(operation_id="jobs_cancel", request=EmptySerializer, responses=serializers.JobSerializer)
    def post(self, request: Request, job_id: str) -> Response:
        """Cancel a job: what waits ends now, what runs gets SIGTERM and is cancelled once it is gone."""
        EmptySerializer(data=request.data).is_valid(raise_exception=True)
        control.cancel(access=self.access, job_id=job_id, now=timezone.now())
        return Response(_show(self, job_id))


class SuspendView(BerthAPIView):
    """`POST jobs/{id}/suspend`."""

    rights = {"POST": "jobs:write"}

    @extend_schema(operation_id="jobs_suspend", request=EmptySerializer, responses=serializers.JobSerializer)
    def post(self, request: Request, job_id: str) -> Response:
        """Suspend a job: SIGTERM, time for a checkpoint, its GPUs free for others."""
        EmptySerializer(data=request.data).is_valid(raise_exception=True)
        control.suspend(access=self.access, job_id=job_id, now=timezone.now())
        return Response(_show(self, job_id))


class ResumeView(BerthAPIView):
    """`POST jobs/{id}/resume`."""

    rights = {"POST": "jobs:write"}

    @extend_schema(
        operation_id="jobs_resume",
        request=serializers.ResumeSerializer,
        responses=serializers.JobSerializer,
    )
    def post(self, request: Request, job_id: str) -> Response:
        """Resume a suspended or ended job as a new run, from the chosen or the newest checkpoint."""
        given = serializers.ResumeSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        control.resume(
            access=self.access,
            job_id=job_id,
            checkpoint_id=given.validated_data.get("checkpoint"),
            idempotency_key=key_of(request),
            now=timezone.now(),
        )
        return Response(_show(self, job_id))


def key_of(request: Request) -> str | None:
    """Return the identity under which the row of this request is written once."""
    found: str | None = getattr(request, "idempotency_key", None)
    return found


def _flag(request: Request, name: str) -> bool:
    """Return a yes or no of the query; another word is refused, since a plan that was meant must not run."""
    word = request.query_params.get(name, "false").lower()
    if word not in ("true", "1", "false", "0"):
        raise errors.Invalid.field(name, "choice", _("Write true or false."))
    return word in ("true", "1")


def job_of(view: BerthAPIView, job_id: str) -> Job:
    """Return the caller's job, or raise the NotFound that a stranger sees too."""
    found: Job = Job.objects.for_org(view.organisation).get_or_404(job_id)
    return found


def _show(view: BerthAPIView, job_id: str) -> dict[str, Any]:
    row = reads.job(view.organisation, job_id)
    return reads.shown([row], now=timezone.now())[0]
