"""Who did what, when, from where, with before and after: one row for every write."""

from django.db import models

from accounts.models.organisation import Organisation
from core import ids
from core.tenancy import TenantManager


class AuditEntry(models.Model):
    """Append-only; ``target`` is the id of the row that was written."""

    id = ids.PublicIdField("aud")
    organisation = models.ForeignKey(
        Organisation, models.CASCADE, null=True, related_name="+", db_index=False
    )
    at = models.DateTimeField()
    actor_kind = models.CharField(max_length=10)
    actor_label = models.CharField(max_length=254)
    user_id = models.CharField(max_length=40, blank=True)
    token_id = models.CharField(max_length=40, blank=True)
    action = models.CharField(max_length=60)
    target = models.CharField(max_length=60, blank=True)
    before = models.JSONField(null=True)
    after = models.JSONField(null=True)
    request_id = models.CharField(max_length=64, blank=True)
    ip = models.GenericIPAddressField(null=True)

    objects = TenantManager()

    class Meta:
        indexes = [
            models.Index(fields=["organisation", "-id"], name="audit_by_org"),
            models.Index(fields=["target", "-id"], name="audit_by_target"),
        ]
