"""Orders: what is held and for how long, how to pay it, and what became of it."""

from datetime import datetime
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from accounts.views.base import PageRequest, page, refuse
from billing import reads, wording
from billing.gateways import port, registry
from billing.models import Order
from billing.services import orders
from billing.views.rent import described
from core import errors
from core.rest import pagination

METHODS = {"stripe": "credit card", "test": "test"}
PER_PAGE = 25


@require_safe
@page("billing:read")
def index(request: PageRequest) -> HttpResponse:
    """List the orders of the organisation, newest first."""
    shown = pagination.paginate(
        reads.orders(request.access.organisation), request.GET, default_limit=PER_PAGE
    )
    # an order without an invoice has no such attribute, and a template cannot ask for one that is missing
    rows = [(order, getattr(order, "invoice", None)) for order in shown.items]
    context = {"page": shown, "rows": rows, "page_cursor": request.GET.get("cursor", "")}
    return render(request, "billing/orders.html", context)


@require_safe
@page("billing:read")
def show(request: PageRequest, order_id: str) -> HttpResponse:
    """Show an order: the checkout while it waits for its payment, afterwards what came of it."""
    return render(request, "billing/order.html", _context(request, order_id))


@require_safe
@page("billing:read")
def live(request: PageRequest, order_id: str) -> HttpResponse:
    """Answer the timer: the bar alone while nothing changed, a reload of the page when something did."""
    context = _context(request, order_id)
    if request.GET.get("seen") != context["seen"]:
        return HttpResponse(headers={"HX-Refresh": "true"})
    return render(request, "billing/parts/timer.html", context)


@require_POST
@page("billing:write")
def pay(request: PageRequest, order_id: str) -> HttpResponse:
    """Start a payment with the chosen method, or try again after a declined one."""
    method = request.POST.get("method", "")
    outcome = request.POST.get("outcome", "")
    try:
        order = orders.pay_again(
            organisation=request.access.organisation,
            order_id=order_id,
            method=method,
            options={"outcome": outcome} if method == "test" and outcome else {},
            actor=request.access.actor,
            idempotency_key=request.key,
            now=timezone.now(),
        )
    except (errors.Conflict, errors.Invalid) as error:
        refuse(request, error)
        return redirect("billing:order", order_id=order_id)
    payment = reads.latest_payment(reads.orders(request.access.organisation).get(pk=order.pk))
    if payment is not None and method == "stripe" and payment.status == "requires_action":
        return redirect("billing:pay", order_id=order_id)
    return redirect("billing:order", order_id=order_id)


@require_POST
@page("billing:write")
def cancel(request: PageRequest, order_id: str) -> HttpResponse:
    """Give the nodes back before the payment."""
    try:
        orders.cancel(
            organisation=request.access.organisation,
            order_id=order_id,
            actor=request.access.actor,
            now=timezone.now(),
        )
    except errors.Conflict as error:
        refuse(request, error)
    return redirect("billing:order", order_id=order_id)


def _context(request: PageRequest, order_id: str) -> dict[str, Any]:
    order: Order = reads.orders(request.access.organisation).get_or_404(order_id)
    now = timezone.now()
    payment = reads.latest_payment(order)
    open_payment = payment if payment is not None and payment.status in port.OPEN else None
    quote = order.quote
    return {
        "now": now,
        "order": order,
        "quote": quote,
        "payment": payment,
        "open_payment": open_payment,
        "card_url": open_payment is not None and open_payment.method == "stripe",
        "seen": f"{order.status}:{payment.status if payment else ''}",
        "lines": described(quote),
        "currency": order.currency,
        "gpus": quote.nodes * quote.node_type.gpus_per_node,
        "term": wording.term(quote.term),
        "message": wording.order_message(order.message),
        "failure": _failure(payment),
        "invoice": getattr(order, "invoice", None),
        "methods": registry.methods(),
        "may_pay": request.access.allows("billing:write"),
        **_timer(order, now),
    }


def _failure(payment: Any) -> str:
    if payment is None or payment.status != "failed":
        return ""
    return wording.payment_failure(payment.failure_code, payment.failure_message)


def _timer(order: Order, now: datetime) -> dict[str, Any]:
    """Return what is left of the hold by the server's clock."""
    if order.status != "pending" or order.hold_expires_at is None:
        return {"left": None, "left_ratio": 0.0, "left_label": "", "left_tone": ""}
    left = max(order.hold_expires_at - now, order.hold_expires_at - order.hold_expires_at)
    ratio = left / settings.HOLD_TIME
    return {
        "left": left,
        "left_ratio": ratio,
        "left_label": _("Time left to pay"),
        "left_tone": "bad" if ratio < 0.15 else "attention" if ratio < 0.4 else "",
    }
