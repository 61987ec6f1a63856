"""An immutable priced offer, and its acceptance."""

from django.conf import settings
from django.db import models

from accounts.models import Organisation
from billing import periods, states
from billing.periods import Term
from clusters.models import Cluster, NodeType, Site
from core import ids
from core.tenancy import TenantManager


class Quote(models.Model):
    """A priced offer with expiry. ``lines`` are the later invoice lines as they stand."""

    id = ids.PublicIdField("quo")
    organisation = models.ForeignKey(Organisation, models.CASCADE, related_name="quotes")
    kind = models.CharField(max_length=8, default="new")
    cluster = models.ForeignKey(Cluster, models.CASCADE, null=True, related_name="+")
    node_type = models.ForeignKey(NodeType, models.PROTECT, related_name="+")
    site = models.ForeignKey(Site, models.PROTECT, related_name="+")
    nodes = models.PositiveIntegerField()
    term_unit = models.CharField(max_length=5)
    term_count = models.PositiveIntegerField()
    term_then = models.JSONField(default=list)  # further units of a mixed term: [{"unit", "count"}]
    starts_at = models.DateTimeField()
    starts_now = models.BooleanField()  # the dates are indicative until the order is placed
    ends_at = models.DateTimeField()
    zone = models.CharField(max_length=64)
    currency = models.CharField(max_length=3)
    lines = models.JSONField()
    subtotal = models.BigIntegerField()
    discount = models.BigIntegerField()
    tax = models.BigIntegerField()
    total = models.BigIntegerField()
    cheaper = models.JSONField(null=True)
    prices = models.JSONField()  # the list prices it was made from, which the lease keeps
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    idempotency_key = models.CharField(max_length=255, null=True, blank=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()

    objects = TenantManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organisation", "idempotency_key"], name="quote_key_once"),
            models.CheckConstraint(
                condition=models.Q(total=models.F("subtotal") - models.F("discount") + models.F("tax")),
                name="quote_adds_up",
            ),
        ]

    @property
    def term(self) -> Term:
        """The term that was asked for."""
        return periods.from_parts([{"unit": self.term_unit, "count": self.term_count}, *self.term_then])


class Order(models.Model):
    """An accepted quote. ``due_at`` is when the beat must look at it next; null when nothing waits."""

    id = ids.PublicIdField("ord")
    organisation = models.ForeignKey(Organisation, models.PROTECT, related_name="orders", db_index=False)
    quote = models.OneToOneField(Quote, models.PROTECT, related_name="order")
    cluster = models.ForeignKey(Cluster, models.PROTECT, null=True, related_name="orders")
    status = models.CharField(max_length=13, choices=states.ORDER.choices(), default="pending")
    currency = models.CharField(max_length=3)
    total = models.BigIntegerField()
    hold_expires_at = models.DateTimeField(null=True, blank=True)
    due_at = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    idempotency_key = models.CharField(max_length=255, null=True, blank=True)
    message = models.CharField(max_length=40, blank=True)  # a key of billing/wording.py
    created_at = models.DateTimeField()
    paid_at = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)

    objects = TenantManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organisation", "idempotency_key"], name="order_key_once")
        ]
        indexes = [
            models.Index(fields=["organisation", "-id"], name="order_by_org"),
            models.Index(fields=["due_at"], name="order_due", condition=models.Q(due_at__isnull=False)),
        ]
