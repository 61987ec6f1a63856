"""Stripe's door: verify the raw body, store the event, answer. Nothing else happens here."""

import logging

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from billing.gateways import stripe
from billing.services import stripe_events

logger = logging.getLogger(__name__)
LARGEST = 256 * 1024


@csrf_exempt
@require_POST
def receive(request: HttpRequest) -> HttpResponse:
    """Keep a verified event; Stripe sends it again unless the answer is 2xx."""
    if not settings.STRIPE_WEBHOOK_SECRET:
        raise Http404
    if int(request.META.get("CONTENT_LENGTH") or 0) > LARGEST:
        return HttpResponse(status=413)
    try:
        event = stripe.read_event(request.body, request.headers.get("Stripe-Signature", ""))
    except stripe.BadEvent as error:
        logger.warning("webhook refused", extra={"reason": str(error)})
        return HttpResponse(status=400)
    stripe_events.store(event=event, now=timezone.now())
    return HttpResponse(status=204)
