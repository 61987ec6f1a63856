"""Rows of money: each amount is an integer of minor units beside its currency."""

from billing.models.invoice import Invoice, InvoiceLine, InvoiceSeries
from billing.models.ledger import LedgerEntry, LedgerPosting
from billing.models.order import Order, Quote
from billing.models.payment import Payment, PaymentEvent, Refund
from billing.models.price import Price, TaxRate, VolumeTier

__all__ = [
    "Invoice",
    "InvoiceLine",
    "InvoiceSeries",
    "LedgerEntry",
    "LedgerPosting",
    "Order",
    "Payment",
    "PaymentEvent",
    "Price",
    "Quote",
    "Refund",
    "TaxRate",
    "VolumeTier",
]
