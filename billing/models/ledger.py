"""Append-only double entry; a deferred trigger in the database refuses an entry that does not balance."""

from django.db import models

from accounts.models import Organisation
from core import ids
from core.tenancy import TenantManager

ACCOUNTS = ("cash", "receivable", "deferred_revenue", "earned_revenue", "tax", "balance", "refunds")


class LedgerEntry(models.Model):
    """Why money moved; ``once_key`` names the cause, so that repeating it posts nothing."""

    id = ids.PublicIdField("led")
    organisation = models.ForeignKey(Organisation, models.PROTECT, related_name="+", db_index=False)
    at = models.DateTimeField()
    kind = models.CharField(max_length=30)
    once_key = models.CharField(max_length=120, unique=True)
    source = models.CharField(max_length=60)  # id of the order, payment, invoice or refund

    objects = TenantManager()

    class Meta:
        indexes = [models.Index(fields=["organisation", "-id"], name="ledger_by_org")]


class LedgerPosting(models.Model):
    """One side: debit above zero, credit below; the postings of an entry sum to zero per currency."""

    entry = models.ForeignKey(LedgerEntry, models.PROTECT, related_name="postings")
    account = models.CharField(max_length=20, choices=[(account, account) for account in ACCOUNTS])
    method = models.CharField(max_length=10, blank=True)  # of cash
    currency = models.CharField(max_length=3)
    amount = models.BigIntegerField()

    class Meta:
        constraints = [models.CheckConstraint(condition=~models.Q(amount=0), name="posting_not_zero")]
