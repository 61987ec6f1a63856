"""What people are told: rows for the portal, messages for the mail port."""

from django.conf import settings
from django.db import models

from accounts.models.organisation import Organisation
from core import ids
from core.tenancy import TenantManager


class Notification(models.Model):
    """Something to know for an organisation or one of its people, rendered in the reader's language."""

    id = ids.PublicIdField("ntf")
    organisation = models.ForeignKey(Organisation, models.CASCADE, related_name="notifications")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, null=True, related_name="+")
    kind = models.CharField(max_length=60)  # a word of accounts/notices.py, which holds the sentences
    severity = models.CharField(max_length=10, default="info")  # info, good, attention, bad
    params = models.JSONField(default=dict)
    link = models.CharField(max_length=200, blank=True)
    once_key = models.CharField(max_length=120, unique=True)  # the same event tells once
    created_at = models.DateTimeField()

    objects = TenantManager()

    class Meta:
        indexes = [models.Index(fields=["organisation", "-id"], name="notification_by_org")]


class NotificationRead(models.Model):
    """Up to where a person has read the notifications of an organisation."""

    organisation = models.ForeignKey(Organisation, models.CASCADE, related_name="+")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    last_id = models.CharField(max_length=40)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organisation", "user"], name="notification_read_once")
        ]


class MailMessage(models.Model):
    """A message on its way out: written with the event, sent by a worker, tried again with backoff."""

    id = ids.PublicIdField("eml")
    to = models.EmailField(max_length=254)
    subject = models.CharField(max_length=200)
    body = models.TextField()
    state = models.CharField(max_length=10, default="waiting")  # waiting, sent, failed
    attempts = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField()
    claim_token = models.CharField(max_length=32, blank=True)
    claim_until = models.DateTimeField(null=True, blank=True)
    last_error = models.CharField(max_length=300, blank=True)
    once_key = models.CharField(max_length=200, unique=True)
    created_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["due_at"], name="mail_due", condition=models.Q(state="waiting")),
        ]
