"""Invoices: a list, and the document that one would print."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.views.base import PageRequest, page
from billing import reads, wording
from billing.models import Invoice
from core.rest import pagination

PER_PAGE = 25


@require_safe
@page("billing:read")
def index(request: PageRequest) -> HttpResponse:
    """List the invoices of the organisation, newest first."""
    rows = reads.invoices(request.access.organisation)
    shown = pagination.paginate(rows, request.GET, default_limit=PER_PAGE)
    context = {"page": shown, "page_cursor": request.GET.get("cursor", "")}
    return render(request, "billing/invoices.html", context)


@require_safe
@page("billing:read")
def show(request: PageRequest, invoice_id: str) -> HttpResponse:
    """Show one invoice as a document."""
    rows = reads.invoices(request.access.organisation).select_related("order")
    invoice: Invoice = rows.get_or_404(invoice_id)
    payment = None
    if invoice.order is not None:
        payment = invoice.order.payments.filter(status__in=("succeeded", "refunded")).order_by("pk").first()
    return render(
        request,
        "billing/invoice.html",
        {
            "invoice": invoice,
            "currency": invoice.currency,
            "lines": [_line(line) for line in invoice.lines.all()],
            "payment": payment,
            "due": invoice.total - invoice.amount_paid,
        },
    )


def _line(line: Any) -> dict[str, Any]:
    said = line.description
    return {
        "text": wording.line(said["key"], said["params"]),
        "kind": line.kind,
        "quantity": line.quantity,
        "unit_price": line.unit_price,
        "amount": line.amount,
        "period_start": line.period_start,
        "period_end": line.period_end,
    }
