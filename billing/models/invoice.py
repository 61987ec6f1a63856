"""The documents that an accountant reads: gapless numbers, frozen parties, lines that add up."""

from django.db import models

from accounts.models import Organisation
from billing import states
from billing.models.order import Order
from core import ids
from core.tenancy import TenantManager


class InvoiceSeries(models.Model):
    """The counter of a series and year (in the seller's zone); its row lock makes numbers gapless."""

    series = models.CharField(max_length=10)
    year = models.PositiveSmallIntegerField()
    last = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["series", "year"], name="invoice_series_once")]


class Invoice(models.Model):
    """An invoice; the number is given when it is issued, in the same transaction."""

    id = ids.PublicIdField("inv")
    organisation = models.ForeignKey(Organisation, models.PROTECT, related_name="invoices", db_index=False)
    order = models.OneToOneField(Order, models.PROTECT, null=True, related_name="invoice")
    series = models.CharField(max_length=10)
    year = models.PositiveSmallIntegerField()
    sequence = models.PositiveIntegerField()
    number = models.CharField(max_length=30, unique=True)
    status = models.CharField(max_length=13, choices=states.INVOICE.choices())
    currency = models.CharField(max_length=3)
    subtotal = models.BigIntegerField()
    discount = models.BigIntegerField(default=0)
    tax = models.BigIntegerField()
    total = models.BigIntegerField()
    amount_paid = models.BigIntegerField(default=0)
    seller = models.JSONField()
    buyer = models.JSONField()
    issued_at = models.DateTimeField()
    due_at = models.DateTimeField()
    paid_at = models.DateTimeField(null=True, blank=True)

    objects = TenantManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["series", "year", "sequence"], name="invoice_gapless"),
            models.CheckConstraint(condition=models.Q(total__gte=0), name="invoice_not_negative"),
            models.CheckConstraint(
                condition=models.Q(amount_paid__gte=0) & models.Q(amount_paid__lte=models.F("total")),
                name="invoice_paid_within",
            ),
            models.CheckConstraint(
                condition=models.Q(total=models.F("subtotal") - models.F("discount") + models.F("tax")),
                name="invoice_adds_up",
            ),
        ]
        indexes = [models.Index(fields=["organisation", "-id"], name="invoice_by_org")]

    def __str__(self) -> str:
        return self.number


class InvoiceLine(models.Model):
    """One line as it stood on the quote."""

    invoice = models.ForeignKey(Invoice, models.CASCADE, related_name="lines", db_index=False)
    position = models.PositiveSmallIntegerField()
    kind = models.CharField(max_length=10)  # goods, discount, tax
    description = models.JSONField()  # a key of billing/wording.py and its parameters, worded per language
    quantity = models.PositiveIntegerField(default=1)
    unit_price = models.BigIntegerField()
    amount = models.BigIntegerField()
    period_start = models.DateTimeField(null=True)
    period_end = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["invoice", "position"], name="invoice_line_once")]
        ordering = ["position"]
