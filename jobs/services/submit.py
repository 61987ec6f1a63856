"""Taking a job: checked in full, then Job, Run 1, event and audit row in one transaction."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from accounts.access import Access
from accounts.models import Project
from accounts.services import audit
from clusters import words as cluster_words
from core import dispatch, errors, rows
from jobs import command_steps, jobspec
from jobs.jobspec import Archive, Git, JobSpec
from jobs.models import Environment, Job, Run, Secret, Upload
from jobs.services import environments, lookup, timeline
from jobs.services.lookup import Place

USABLE = ("scheduled", "provisioning", "ready")
PRIORITIES = {"low": -1, "normal": 0, "high": 1}


@dataclass(frozen=True, slots=True)
class Order:
    """A spec and the rows that it names: all that submitting needs to know."""

    spec: JobSpec
    place: Place
    project_id: str
    environment_id: str
    environment: str


def check(*, access: Access, data: Any) -> Order:
    """Return what a spec asks for; raises Invalid with all faults of the spec, then of what it names."""
    access.require("jobs:write")
    spec = jobspec.parse(data)
    place = lookup.place(
        organisation_id=access.organisation.pk,
        cluster=spec.cluster,
        project=spec.project,
        environment=spec.environment,
    )
    if place is None:
        raise errors.Invalid.field("cluster", "not_found", _("There is no such cluster, or it is not yours."))
    if place.status not in USABLE:
        raise errors.InvalidState(
            _("The cluster takes no jobs: it is %(status)s.") % {"status": cluster_words.state(place.status)},
            extra={"state": place.status},
        )
    _check_fit(spec, place)
    if place.project_id is None:
        raise errors.Invalid.field(
            "project", "not_found", _("There is no project %(slug)s.") % {"slug": spec.project}
        )
    if spec.secrets or isinstance(spec.code, Git):
        _check_secrets(access, spec)
    if isinstance(spec.code, Archive):
        uploads = Upload.objects.for_org(access.organisation)
        if not uploads.filter(pk=spec.code.upload).exists():
            raise errors.Invalid.field("code.archive", "not_found", _("There is no such upload."))
    if place.environment_id is None or place.environment_slug is None:
        raise environments.not_usable(place.site_id)
    return Order(spec, place, place.project_id, place.environment_id, place.environment_slug)


def submit(*, access: Access, data: Any, idempotency_key: str | None = None, now: datetime) -> Job:
    """Store a job and its first run; a repeat with the same key returns the job that stands already."""
    order = check(access=access, data=data)
    if idempotency_key is None:
        return _store(access, order, None, now)
    try:
        with transaction.atomic():
            return _store(access, order, idempotency_key, now)
    except IntegrityError as error:
        if "job_key_once" not in str(error):
            raise
        return Job.objects.for_org(access.organisation).get(idempotency_key=idempotency_key)


def _store(access: Access, order: Order, idempotency_key: str | None, now: datetime) -> Job:
    """Write the rows at once. It takes a key-share lock on the cluster: admission does not wait for it."""
    spec = order.spec
    job = Job(
        organisation=access.organisation,
        project=Project(pk=order.project_id, slug=spec.project),
        cluster_id=order.place.cluster_id,
        environment=Environment(pk=order.environment_id, slug=order.environment),
        name=spec.name,
        priority=PRIORITIES[spec.priority],
        replicas=spec.replicas,
        gpus_per_replica=spec.gpus_per_replica,
        max_runtime_seconds=spec.max_runtime_seconds,
        max_retries=spec.max_retries,
        total_steps=command_steps.total(spec.command),
        submitted_by=access.user,
        idempotency_key=idempotency_key,
        created_at=now,
        queued_at=now,
    )
    job.name = spec.name or f"job-{job.pk[-6:]}"
    job.spec = {**jobspec.to_dict(spec), "name": job.name, "environment": order.environment}
    run = job_run(job, number=1, cause="submit", now=now)
    job.new_runs = [run]
    submitted = timeline.event(
        job,
        "submitted",
        run=run,
        actor=access.actor,
        now=now,
        replicas=spec.replicas,
        gpus=spec.gpus_per_replica,
    )
    audited = audit.entry(
        actor=access.actor,
        action="job.submitted",
        target=job,
        organisation=access.organisation,
        after={"name": job.name, "cluster": job.cluster_id, "gpus": spec.gpus},
        now=now,
    )
    rows.insert(job, run, submitted, audited)
    dispatch.after_commit("jobs.admit", job.cluster_id)
    return job


def new_run(job: Job, *, number: int, cause: str, now: datetime, **fields: Any) -> Run:
    """Write a run that waits in the queue; the beat looks at it if the hint is lost."""
    run = job_run(job, number=number, cause=cause, now=now, **fields)
    run.save(force_insert=True)
    return run


def job_run(job: Job, *, number: int, cause: str, now: datetime, **fields: Any) -> Run:
    """Return a run that waits in the queue, not written yet."""
    fields.setdefault("due_at", fields.get("not_before") or now)
    return Run(
        organisation_id=job.organisation_id,
        job=job,
        cluster_id=job.cluster_id,
        number=number,
        cause=cause,
        created_at=now,
        **fields,
    )


def _check_fit(spec: JobSpec, place: Place) -> None:
    size = place.gpus_per_node
    if jobspec.fits(spec, place.nodes, size):
        return
    field = "gpus_per_replica" if spec.gpus_per_replica > size else "replicas"
    raise errors.Invalid.field(
        field,
        "exceeds_cluster",
        _(
            "The cluster has %(nodes)d nodes with %(size)d GPUs each; %(replicas)d replicas with "
            "%(each)d GPUs each do not fit on it."
        )
        % {
            "nodes": place.nodes,
            "size": size,
            "replicas": spec.replicas,
            "each": spec.gpus_per_replica,
        },
    )


def _check_secrets(access: Access, spec: JobSpec) -> None:
    wanted = {name: f"secrets.{place}" for place, name in enumerate(spec.secrets)}
    if isinstance(spec.code, Git) and spec.code.secret:
        wanted.setdefault(spec.code.secret, "code.git.secret")
    if not wanted:
        return
    known = set(
        Secret.objects.for_org(access.organisation).filter(name__in=wanted).values_list("name", flat=True)
    )
    faults = [
        errors.FieldError(field, "not_found", _("There is no secret %(name)s.") % {"name": name})
        for name, field in wanted.items()
        if name not in known
    ]
    if faults:
        raise errors.Invalid(_("The job names secrets that do not exist."), errors=faults)
