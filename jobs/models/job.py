"""What the customer wants trained, each attempt at it, and the timeline."""

from django.conf import settings
from django.db import models

from accounts.models import Organisation, Project
from clusters.models import Cluster
from core import ids
from core.tenancy import TenantManager
from jobs import states
from jobs.models.environment import Environment


class Job(models.Model):
    """A job: its spec never changes; status follows its latest run."""

    id = ids.PublicIdField("job")
    organisation = models.ForeignKey(Organisation, models.PROTECT, related_name="jobs", db_index=False)
    project = models.ForeignKey(Project, models.PROTECT, related_name="jobs")
    cluster = models.ForeignKey(Cluster, models.PROTECT, related_name="jobs", db_index=False)
    environment = models.ForeignKey(Environment, models.PROTECT, related_name="+")
    name = models.CharField(max_length=100)
    spec = models.JSONField()
    status = models.CharField(max_length=10, choices=states.JOB.choices(), default="queued")
    why = models.JSONField(null=True)  # the reason of its state: {"code", "values"} of jobs/reasons.py
    priority = models.SmallIntegerField(default=0)  # low -1, normal 0, high 1
    replicas = models.PositiveIntegerField()
    gpus_per_replica = models.PositiveIntegerField()
    max_runtime_seconds = models.PositiveIntegerField(null=True)
    max_retries = models.PositiveIntegerField(default=0)
    step = models.BigIntegerField(null=True)
    total_steps = models.BigIntegerField(null=True)
    submitted_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    idempotency_key = models.CharField(max_length=255, null=True, blank=True)
    created_at = models.DateTimeField()
    queued_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    new_runs: list["Run"]  # of a job just submitted, so that its answer need not ask

    objects = TenantManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organisation", "idempotency_key"], name="job_key_once")
        ]
        indexes = [
            models.Index(fields=["organisation", "-id"], name="job_by_org"),
            models.Index(fields=["organisation", "status", "-id"], name="job_by_org_status"),
            models.Index(fields=["cluster", "-id"], name="job_by_cluster"),
            models.Index(
                fields=["cluster", "-priority", "queued_at"],
                name="job_queue",
                condition=models.Q(status="queued"),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def gpus(self) -> int:
        """GPUs that the whole gang takes."""
        return self.replicas * self.gpus_per_replica


class Run(models.Model):
    """One attempt = one PyTorchJob object, whose name is this id.

    ``due_at`` is when the beat must look at the run next, null when only an event can move it on; ``stop`` is
    why it is being ended (cancelled, suspended, deadline, cluster), empty while it should go on. ``holds``
    says that it takes GPUs of its cluster: from admission until its pods are gone.
    """

    id = ids.PublicIdField("run")
    organisation = models.ForeignKey(Organisation, models.PROTECT, related_name="runs")
    job = models.ForeignKey(Job, models.PROTECT, related_name="runs", db_index=False)
    cluster = models.ForeignKey(Cluster, models.PROTECT, related_name="runs")
    number = models.PositiveIntegerField()
    status = models.CharField(max_length=10, choices=states.RUN.choices(), default="queued")
    cause = models.CharField(max_length=10, default="submit")  # submit, retry, resume
    why = models.JSONField(null=True)
    failure_class = models.CharField(max_length=15, blank=True)  # infrastructure, user, configuration
    exit_code = models.IntegerField(null=True)
    resume_from = models.ForeignKey("Checkpoint", models.SET_NULL, null=True, related_name="+")
    stop = models.CharField(max_length=10, blank=True)
    stop_at = models.DateTimeField(null=True, blank=True)
    stop_by = models.CharField(max_length=254, blank=True)
    not_before = models.DateTimeField(null=True, blank=True)  # backoff of a retry
    idempotency_key = models.CharField(max_length=255, null=True, blank=True)  # of the wish to resume
    placement = models.JSONField(default=list)  # replicas per node: [[node name, count], …]
    holds = models.BooleanField(default=False)
    object_uid = models.CharField(max_length=64, blank=True)
    observed_version = models.CharField(max_length=40, blank=True)
    observed_at = models.DateTimeField(null=True, blank=True)
    gpu_seconds = models.BigIntegerField(default=0)
    metered_until = models.DateTimeField(null=True, blank=True)
    collected = models.BooleanField(default=False)  # logs and checkpoints are complete in our storage
    due_at = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveIntegerField(default=0)
    claim_token = models.CharField(max_length=32, blank=True)
    claim_until = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()
    launched_at = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = TenantManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["job", "number"], name="run_number_once"),
            models.UniqueConstraint(fields=["job", "idempotency_key"], name="run_key_once"),
            models.UniqueConstraint(
                fields=["job"],
                name="run_one_open",
                condition=models.Q(status__in=states.RUN_OPEN),
            ),
        ]
        indexes = [
            models.Index(fields=["due_at"], name="run_due", condition=models.Q(due_at__isnull=False)),
            models.Index(fields=["cluster"], name="run_open", condition=models.Q(status__in=states.RUN_OPEN)),
            models.Index(fields=["cluster"], name="run_holding", condition=models.Q(holds=True)),
            models.Index(
                fields=["id"],
                name="run_uncollected",
                condition=models.Q(collected=False, launched_at__isnull=False),
            ),
        ]

    @property
    def object_name(self) -> str:
        """The name of the PyTorchJob of this run."""
        return ids.object_name(self.pk)


class JobEvent(models.Model):
    """The timeline of a job, oldest first; jobs/words.py has the sentence of each kind."""

    id = ids.PublicIdField("evt")
    job = models.ForeignKey(Job, models.CASCADE, related_name="events", db_index=False)
    run = models.ForeignKey(Run, models.CASCADE, null=True, related_name="+")
    at = models.DateTimeField()
    kind = models.CharField(max_length=40)
    actor = models.CharField(max_length=254)
    values = models.JSONField(default=dict)

    class Meta:
        indexes = [models.Index(fields=["job", "id"], name="job_event_order")]
