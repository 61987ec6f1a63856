"""The submit page: a form, and beside it a plan that follows it: where, when, what it would be."""

import json
from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from accounts.models import Project
from accounts.views.base import PageRequest, page
from clusters import reads as cluster_reads
from clusters.models import Cluster
from core import errors
from core.errors import FieldError
from jobs import reads, templates
from jobs.jobspec.types import PRIORITIES
from jobs.models import Job, Secret
from jobs.services import dryrun, environments, uploads
from jobs.services import submit as submitting
from jobs.views import jobform
from jobs.views.jobform import Form


@require_http_methods(["GET", "HEAD", "POST"])
@page("jobs:write")
def show(request: PageRequest) -> HttpResponse:
    """Show the form, or take the job."""
    clusters = _clusters(request)
    if request.method == "POST":
        return _submit(request, clusters)
    form = jobform.fresh(request.GET, _cluster(clusters, request.GET.get("cluster", "")))
    return render(request, "jobs/submit.html", _context(request, form, clusters))


@require_POST
@page("jobs:write")
def plan(request: PageRequest) -> HttpResponse:
    """Answer a change of the form with the plan alone."""
    context = _context(request, jobform.sent(request.POST), _clusters(request))
    return render(request, "jobs/parts/plan.html", context)


def _submit(request: PageRequest, clusters: list[Cluster]) -> HttpResponse:
    form = jobform.sent(request.POST)
    try:
        job = _store(request, form)
    except errors.BerthError as error:
        if error.status == 403:
            raise
        context = _context(request, form, clusters)
        context |= {"refused": error.detail, "faults": _by_field(error)}
        return render(request, "jobs/submit.html", context, status=error.status)
    return redirect("jobs:job", job_id=job.pk)


def _store(request: PageRequest, form: Form) -> Job:
    now = timezone.now()
    archive = ""
    if form.values["code"] == "archive":
        file = request.FILES.get("archive")
        if file is None:
            raise errors.Invalid.field("archive", "required", _("Choose a zip or tar.gz to upload."))
        stored = uploads.store(access=request.access, file=file, idempotency_key=request.key, now=now)
        archive = stored.pk
    data, faults = form.spec(archive)
    if faults:
        raise errors.Invalid(faults[0].detail, errors=faults)
    return submitting.submit(access=request.access, data=data, idempotency_key=request.key, now=now)


def _clusters(request: PageRequest) -> list[Cluster]:
    rows = cluster_reads.open_clusters(request.access.organisation)
    return list(rows.filter(status__in=submitting.USABLE)[:100])


def _cluster(clusters: list[Cluster], asked: str) -> str:
    """Return the cluster to begin with: the asked one, else the one with most free GPUs."""
    if any(cluster.pk == asked for cluster in clusters):
        return asked
    best = max(clusters, key=cluster_reads.free_gpus, default=None)
    return best.pk if best else ""


def _context(request: PageRequest, form: Form, clusters: list[Cluster]) -> dict[str, Any]:
    organisation = request.access.organisation
    chosen = next((cluster for cluster in clusters if cluster.pk == form.values["cluster"]), None)
    return {
        "form": form.values,
        "chosen_secrets": form.secrets,
        "clusters": [
            {"row": row, "free": cluster_reads.free_gpus(row), "gpus": cluster_reads.gpus(row)}
            for row in clusters
        ],
        "cluster": chosen,
        "templates": templates.all_templates(),
        "environments": list(environments.usable_at(chosen.site)) if chosen else [],
        "projects": Project.objects.for_org(organisation).order_by("slug"),
        "secret_names": list(
            Secret.objects.for_org(organisation).order_by("name").values_list("name", flat=True)
        ),
        "priorities": _priorities(),
        "units": [("minutes", _("minutes")), ("hours", _("hours")), ("days", _("days"))],
        "code_kinds": _code_kinds(),
        "refused": "",
        "faults": {},
        **_plan(request, form, chosen),
    }


def _plan(request: PageRequest, form: Form, cluster: Cluster | None) -> dict[str, Any]:
    """Return what submitting would do, or why it would be refused."""
    if cluster is None:
        return {"plan": None, "plan_faults": []}
    data, faults = form.spec()
    nodes = list(cluster_reads.nodes_of(cluster))
    drawn = {"nodes": nodes, "holding": reads.runs_on(cluster), "planned": {}}
    if not faults:
        try:
            found = dryrun.plan(access=request.access, data=data, now=timezone.now())
        except errors.BerthError as error:
            faults = list(error.errors) or [FieldError("", error.code, error.detail)]
        else:
            each = int(found["spec"]["gpus_per_replica"])
            return drawn | {
                "plan": found,
                "plan_faults": [],
                "planned": {node["node"]: node["replicas"] * each for node in found["nodes"]},
                "starts": parse_datetime(found["estimated_start"]) if found["estimated_start"] else None,
                "manifest": json.dumps(found["manifest"], indent=2, ensure_ascii=False),
            }
    return drawn | {"plan": None, "plan_faults": [fault.detail for fault in faults]}


def _by_field(error: errors.BerthError) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for fault in error.errors:
        found.setdefault(fault.field.split(".")[0], []).append(fault.detail)
    return found


def _priorities() -> list[tuple[str, str]]:
    words = {"low": _("low"), "normal": _("normal"), "high": _("high")}
    return [(word, words[word]) for word in PRIORITIES]


def _code_kinds() -> list[tuple[str, str]]:
    words = {"inline": _("Text"), "git": _("Git"), "archive": _("Upload"), "image": _("In the image")}
    return [(kind, words[kind]) for kind in jobform.CODE_KINDS]
