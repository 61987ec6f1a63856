"""Turns rows of money into the shapes of the REST API."""

from collections.abc import Mapping
from typing import Any

from billing import periods, reads, wording
from billing.models import Invoice, InvoiceLine, Order, Payment, Quote
from billing.services import payments

Shape = dict[str, Any]


def money(amount: int, currency: str) -> Shape:
    """Return minor units and currency."""
    return {"amount": amount, "currency": currency}


def quote(row: Quote) -> Shape:
    """Return a quote."""
    order = getattr(row, "order", None)
    return {
        "id": row.pk,
        "kind": row.kind,
        "node_type": row.node_type.slug,
        "site": row.site.slug,
        "nodes": row.nodes,
        "term": row.term.as_dict(),
        "lines": [line(each["kind"], each["key"], each["params"], each, row.currency) for each in row.lines],
        "subtotal": money(row.subtotal, row.currency),
        "discount": money(row.discount, row.currency),
        "tax": money(row.tax, row.currency),
        "total": money(row.total, row.currency),
        "starts_at": row.starts_at,
        "ends_at": row.ends_at,
        "expires_at": row.expires_at,
        "order": order.pk if order else None,
        "cheaper": cheaper(row),
    }


def cheaper(row: Quote) -> Shape | None:
    """Return the term that costs less, with a sentence that says so."""
    if row.cheaper is None:
        return None
    named = row.cheaper["term"]
    instead = periods.from_parts([named, *named.get("then", ())])
    return {
        "term": named,
        "total": money(row.cheaper["total"], row.currency),
        "reason": wording.cheaper(row.term, instead),
    }


def line(kind: str, key: str, params: Mapping[str, Any], figures: Mapping[str, int], currency: str) -> Shape:
    """Return a line in the reader's language."""
    return {
        "kind": kind,
        "description": wording.line(key, params),
        "quantity": figures["quantity"],
        "unit_price": money(figures["unit_price"], currency),
        "amount": money(figures["amount"], currency),
    }


def order(row: Order, *, may_pay: bool) -> Shape:
    """Return an order; who may pay also gets what a payment page needs."""
    attempt = reads.latest_payment(row)
    invoice = getattr(row, "invoice", None)
    return {
        "id": row.pk,
        "quote": row.quote_id,
        "status": row.status,
        "message": wording.order_message(row.message),
        "cluster": row.cluster_id,
        "invoice": invoice.pk if invoice else None,
        "total": money(row.total, row.currency),
        "hold_expires_at": row.hold_expires_at if row.status == "pending" else None,
        "created_at": row.created_at,
        "paid_at": row.paid_at,
        "payment": payment(attempt, may_pay=may_pay) if attempt else None,
    }


def payment(row: Payment, *, may_pay: bool) -> Shape:
    """Return an attempt to pay."""
    failed = row.status == "failed"
    shape: Shape = {
        "id": row.pk,
        "method": row.method,
        "status": row.status,
        "amount": money(row.amount, row.currency),
        "failure": wording.payment_failure(row.failure_code, row.failure_message) if failed else None,
    }
    if may_pay and (secret := payments.client_secret(row)):
        shape["client_secret"] = secret
    return shape


def invoice(row: Invoice) -> Shape:
    """Return an invoice with its lines."""
    return {
        "id": row.pk,
        "number": row.number,
        "status": row.status,
        "issued_at": row.issued_at,
        "due_at": row.due_at,
        "currency": row.currency,
        "lines": [invoice_line(each, row.currency) for each in row.lines.all()],
        "subtotal": money(row.subtotal, row.currency),
        "discount": money(row.discount, row.currency),
        "tax": money(row.tax, row.currency),
        "total": money(row.total, row.currency),
        "amount_due": money(row.total - row.amount_paid, row.currency),
        "order": row.order_id,
        "seller": row.seller,
        "buyer": row.buyer,
    }


def invoice_line(row: InvoiceLine, currency: str) -> Shape:
    """Return a line of an invoice with its period."""
    figures = {"quantity": row.quantity, "unit_price": row.unit_price, "amount": row.amount}
    shape = line(row.kind, row.description["key"], row.description["params"], figures, currency)
    return {**shape, "period_start": row.period_start, "period_end": row.period_end}


def node_type(offered: reads.Offered) -> Shape:
    """Return a node type with its prices."""
    row = offered.node_type
    return {
        "id": row.pk,
        "slug": row.slug,
        "gpu_model": row.gpu_model,
        "gpus_per_node": row.gpus_per_node,
        "vcpus": row.vcpus,
        "memory_gb": row.memory_gb,
        "nvme_tb": row.nvme_tb,
        "interconnect": row.interconnect,
        "fabric": row.fabric,
        "demo_prices": offered.is_demo,
        "prices": [
            {"unit": price.unit, "per_node": price.per_node, "per_gpu_hour": price.per_gpu_hour}
            for price in offered.prices
        ],
        "sites": list(offered.sites),
    }
