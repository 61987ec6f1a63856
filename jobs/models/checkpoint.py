"""The registry of checkpoints: rows of what lies in a run's folder, offered only when complete."""

from django.db import models
from django.db.models import Q

from accounts.models import Organisation
from core import ids
from core.tenancy import TenantManager
from jobs.models.job import Job, Run


class Checkpoint(models.Model):
    """A checkpoint of a run at a step; ``key`` is its folder or file below the run's own folder.

    It is there while both ``gone_at`` and ``removal_at`` are null.
    """

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
    removal_at = models.DateTimeField(null=True, blank=True)  # since when Berth removes it: offered no more
    claim_token = models.CharField(max_length=32, blank=True)
    claim_until = models.DateTimeField(null=True, blank=True)

    objects = TenantManager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "key"], name="checkpoint_once")]
        indexes = [
            models.Index(fields=["job", "-step"], name="checkpoint_by_job"),
            models.Index(
                fields=["job"],
                name="checkpoint_removal",
                condition=Q(removal_at__isnull=False, gone_at=None),
            ),
        ]

    @staticmethod
    def there() -> Q:
        """Return the condition of a checkpoint whose files are there and stay."""
        return Q(gone_at=None, removal_at=None)

    @property
    def is_there(self) -> bool:
        """Whether its files are there and stay."""
        return self.gone_at is None and self.removal_at is None
