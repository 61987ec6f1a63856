"""The page where a card is paid with Stripe's own element: the only one that loads Stripe's script."""

from urllib.parse import urlsplit

from csp.decorators import csp_update
from django.conf import settings
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from accounts.views.base import PageRequest, page
from billing import reads
from billing.services import payments


@require_safe
@page("billing:write")
def show(request: PageRequest, order_id: str) -> HttpResponseBase:
    """Show the card form of an order whose payment waits; anything else leads back to the order."""
    order = reads.orders(request.access.organisation).get_or_404(order_id)
    payment = reads.latest_payment(order)
    secret = payments.client_secret(payment) if payment else None
    if order.status != "pending" or secret is None:
        return redirect("billing:order", order.pk)
    shown = {
        "order": order,
        "payment": payment,
        "client_secret": secret,
        "publishable_key": settings.STRIPE_PUBLISHABLE_KEY,
        "script_url": settings.STRIPE_SCRIPT_URL,
        "now": timezone.now(),
    }
    answer: HttpResponseBase = csp_update(_additions())(
        lambda asked: render(asked, "billing/pay.html", shown)
    )(request)
    return answer


@require_POST
@page("billing:write")
def check(request: PageRequest, order_id: str) -> HttpResponse:
    """Ask the gateway where the payment stands and go to the order; the webhook may have been here before."""
    order = reads.orders(request.access.organisation).get_or_404(order_id)
    payment = reads.latest_payment(order)
    if payment is not None:
        payments.refresh(payment_id=payment.pk, now=timezone.now())
    return redirect("billing:order", order.pk)


def _additions() -> dict[str, list[str]]:
    """Return what this page may load beside what every page may."""
    script = urlsplit(settings.STRIPE_SCRIPT_URL)
    origin = f"{script.scheme}://{script.netloc}"
    api = settings.STRIPE_API_BASE or "https://api.stripe.com"
    return {
        "script-src": [origin],
        "frame-src": [origin, "https://hooks.stripe.com"],
        "connect-src": [api, origin],
    }
