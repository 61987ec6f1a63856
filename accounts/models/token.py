"""Credentials for automation: the prefix is shown, the secret is stored hashed."""

from django.contrib.postgres.fields import ArrayField
from django.db import models

from accounts.models.organisation import Member, Organisation
from core import ids
from core.tenancy import TenantManager


class Token(models.Model):
    """A token of one member; may do what its scopes and the member's present role both allow."""

    id = ids.PublicIdField("tok")
    organisation = models.ForeignKey(Organisation, models.CASCADE, related_name="tokens")
    member = models.ForeignKey(Member, models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=100)
    prefix = models.CharField(max_length=16)
    secret_hash = models.CharField(max_length=64, unique=True)
    scopes = ArrayField(models.CharField(max_length=20))
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    idempotency_key = models.CharField(max_length=255, null=True, blank=True)

    objects = TenantManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organisation", "idempotency_key"], name="token_key_once")
        ]
