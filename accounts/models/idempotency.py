"""Answers kept for 24 hours under the caller's key, so that a retry never does a thing twice."""

from django.db import models

from accounts.models.organisation import Organisation


class IdempotencyKey(models.Model):
    """Claimed in its own commit with a deadline; the stored answer is sealed."""

    organisation = models.ForeignKey(Organisation, models.CASCADE, related_name="+")
    key = models.CharField(max_length=255)
    fingerprint = models.CharField(max_length=64)
    claim_token = models.CharField(max_length=32, blank=True)
    claim_until = models.DateTimeField(null=True, blank=True)
    status = models.PositiveSmallIntegerField(null=True, blank=True)
    answer = models.TextField(blank=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["organisation", "key"], name="idempotency_key_once")]
        indexes = [models.Index(fields=["created_at"], name="idempotency_age")]
