"""Money coming in and going back, and what the payment provider tells us."""

from django.db import models

from accounts.models import Organisation
from billing import states
from billing.models.order import Order
from core import ids
from core.tenancy import TenantManager


class Payment(models.Model):
    """One attempt to pay an order. Its id is the provider's idempotency key, stored before the call."""

    id = ids.PublicIdField("pay")
    organisation = models.ForeignKey(Organisation, models.PROTECT, related_name="payments")
    order = models.ForeignKey(Order, models.PROTECT, related_name="payments")
    method = models.CharField(max_length=10)  # test, stripe
    status = models.CharField(max_length=15, choices=states.PAYMENT.choices(), default="pending")
    currency = models.CharField(max_length=3)
    amount = models.BigIntegerField()
    refunded = models.BigIntegerField(default=0)  # reserved or done, never above the amount
    options = models.JSONField(default=dict)  # such as the outcome that the test gateway plays
    provider_id = models.CharField(max_length=100, null=True, blank=True, unique=True)
    client_secret = models.TextField(blank=True)  # sealed
    failure_code = models.CharField(max_length=60, blank=True)
    failure_message = models.CharField(max_length=300, blank=True)
    idempotency_key = models.CharField(max_length=255, null=True, blank=True)
    due_at = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveIntegerField(default=0)
    claim_token = models.CharField(max_length=32, blank=True)
    claim_until = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()
    settled_at = models.DateTimeField(null=True, blank=True)

    objects = TenantManager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(amount__gte=0), name="payment_not_negative"),
            models.CheckConstraint(
                condition=models.Q(refunded__gte=0) & models.Q(refunded__lte=models.F("amount")),
                name="payment_refund_within",
            ),
            models.UniqueConstraint(fields=["organisation", "idempotency_key"], name="payment_key_once"),
            models.UniqueConstraint(
                fields=["order"],
                name="payment_one_open",
                condition=models.Q(status__in=["pending", "requires_action", "processing"]),
            ),
        ]
        indexes = [
            models.Index(fields=["due_at"], name="payment_due", condition=models.Q(due_at__isnull=False))
        ]


class Refund(models.Model):
    """Money on its way back by the method it came; its amount is reserved on the payment first."""

    id = ids.PublicIdField("ref")
    organisation = models.ForeignKey(Organisation, models.PROTECT, related_name="refunds")
    payment = models.ForeignKey(Payment, models.PROTECT, related_name="refunds")
    status = models.CharField(max_length=10, choices=states.REFUND.choices(), default="pending")
    amount = models.BigIntegerField()
    reason = models.CharField(max_length=60)
    provider_id = models.CharField(max_length=100, null=True, blank=True, unique=True)
    failure_message = models.CharField(max_length=300, blank=True)
    due_at = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveIntegerField(default=0)
    claim_token = models.CharField(max_length=32, blank=True)
    claim_until = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()
    settled_at = models.DateTimeField(null=True, blank=True)

    objects = TenantManager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(amount__gt=0), name="refund_positive"),
            models.UniqueConstraint(fields=["payment", "reason"], name="refund_once_per_reason"),
        ]
        indexes = [
            models.Index(fields=["due_at"], name="refund_due", condition=models.Q(due_at__isnull=False))
        ]


class PaymentEvent(models.Model):
    """An event of the provider, stored first under its unique id and processed after."""

    id = ids.PublicIdField("pev")
    provider = models.CharField(max_length=10)
    provider_event_id = models.CharField(max_length=100)
    type = models.CharField(max_length=100)
    object_id = models.CharField(max_length=100, blank=True)
    payload = models.JSONField()
    status = models.CharField(max_length=10, choices=states.PAYMENT_EVENT.choices(), default="received")
    attempts = models.PositiveIntegerField(default=0)
    last_error = models.CharField(max_length=300, blank=True)
    due_at = models.DateTimeField(null=True, blank=True)
    claim_token = models.CharField(max_length=32, blank=True)
    claim_until = models.DateTimeField(null=True, blank=True)
    received_at = models.DateTimeField()
    processed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["provider", "provider_event_id"], name="payment_event_once")
        ]
        indexes = [
            models.Index(
                fields=["due_at"], name="payment_event_due", condition=models.Q(due_at__isnull=False)
            )
        ]
