"""Issues invoices: numbers without gaps, parties frozen, lines as they stood on the quote."""

from datetime import datetime

from django.conf import settings

from accounts.models import Organisation
from billing.models import Invoice, InvoiceLine, InvoiceSeries, Order
from billing.services import ledger
from core import calendar

SERIES = "INV"
SELLER_FIELDS = ("name", "address", "country", "tax_id")


def issue_paid(*, order: Order, now: datetime) -> Invoice:
    """Issue the invoice of an order whose money is here; an order has one, asking again returns it.

    Runs inside the caller's transaction, as its last lock: the series row stays locked until it commits,
    so a number that is taken is a number that is used.
    """
    if (existing := Invoice.objects.filter(order=order).first()) is not None:
        return existing
    quote = order.quote
    year = calendar.local(now, settings.SELLER["zone"]).year
    sequence = _next(SERIES, year)
    invoice = Invoice.objects.create(
        organisation=order.organisation,
        order=order,
        series=SERIES,
        year=year,
        sequence=sequence,
        number=f"{SERIES}-{year}-{sequence:06d}",
        status="paid",
        currency=quote.currency,
        subtotal=quote.subtotal,
        discount=quote.discount,
        tax=quote.tax,
        total=quote.total,
        amount_paid=quote.total,
        seller={name: settings.SELLER[name] for name in SELLER_FIELDS},
        buyer=_buyer(order.organisation),
        issued_at=now,
        due_at=now,
        paid_at=now,
    )
    InvoiceLine.objects.bulk_create(
        InvoiceLine(
            invoice=invoice,
            position=position,
            kind=line["kind"],
            description={"key": line["key"], "params": line["params"]},
            quantity=line["quantity"],
            unit_price=line["unit_price"],
            amount=line["amount"],
            period_start=order.cluster.starts_at if order.cluster and line["kind"] == "goods" else None,
            period_end=order.cluster.ends_at if order.cluster and line["kind"] == "goods" else None,
        )
        for position, line in enumerate(quote.lines, start=1)
    )
    ledger.post(
        organisation=order.organisation,
        kind="invoice",
        once_key=f"invoice:{invoice.pk}",
        source=invoice.pk,
        currency=invoice.currency,
        sides=[
            ("receivable", invoice.total),
            ("deferred_revenue", -(invoice.total - invoice.tax)),
            ("tax", -invoice.tax),
        ],
        now=now,
    )
    return invoice


def _next(series: str, year: int) -> int:
    InvoiceSeries.objects.bulk_create([InvoiceSeries(series=series, year=year)], ignore_conflicts=True)
    row = InvoiceSeries.objects.select_for_update().get(series=series, year=year)
    row.last += 1
    row.save(update_fields=["last"])
    return row.last


def _buyer(organisation: Organisation) -> dict[str, str]:
    return {
        "name": organisation.name,
        "address": organisation.address,
        "country": organisation.country,
        "tax_id": organisation.tax_id,
    }
