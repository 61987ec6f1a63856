"""The registry of checkpoints: rows of what lies in a run's folder, offered only when complete."""

from django.db import models

from accounts.models import Organisation
from core import ids
from core.tenancy import TenantManager
from jobs.models.job import Job, Run


class Checkpoint(models.Model):
    """A checkpoint of a run at a step; ``key`` is its folder or file below the run's own folder."""

    id = ids.PublicIdField("ckp")
    organisation = models.ForeignKey(Organisation, models.PROTECT, related_name="checkpoints")
    job = models.ForeignKey(Job, models.PROTECT, related_name="checkpoints", db_index=False)
    run = models.ForeignKey(Run, models.PROTECT, related_name="checkpoints", db_index=False)
    step = models.BigIntegerField()
    layout = models.CharField(max_length=30)
    key = models.CharField(max_length=300)
    is_file = models.BooleanField(default=False)
    bytes = models.BigIntegerField()
    complete = models.BooleanField()
    metric = models.JSONField(null=True)  # {"name": "loss", "value": 2.31}
    created_at = models.DateTimeField()
    gone_at = models.DateTimeField(null=True, blank=True)

    objects = TenantManager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "key"], name="checkpoint_once")]
        indexes = [models.Index(fields=["job", "-step"], name="checkpoint_by_job")]
