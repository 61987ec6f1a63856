"""The whole way with nothing faked but Stripe itself: localstripe signs and posts to a running portal."""

import json
import urllib.request

import pytest
from django.utils import timezone

from billing.models import PaymentEvent
from billing.services import due, orders
from tests.support import localstripe, people, shop, wait

pytestmark = pytest.mark.django_db(transaction=True)


def test_localstripe_delivers_to_the_portal(stripe_on, live_server):
    request = urllib.request.Request(
        f"{stripe_on.base}/_config/webhooks/portal",
        json.dumps(
            {"url": f"{live_server.url}/stripe/webhook", "secret": localstripe.WEBHOOK_SECRET}
        ).encode(),
        {"Content-Type": "application/json"},
    )
    urllib.request.urlopen(request, timeout=5).close()
    place = shop.open_shop()
    now = timezone.now()
    order = orders.place(
        organisation=place.organisation,
        quote_id=shop.quote(place, now=now).pk,
        method="stripe",
        user=place.owner.user,
        actor=people.actor(place.owner),
        now=now,
    )
    stripe_on.pay(order.payments.get().provider_id)
    wait.until(lambda: PaymentEvent.objects.filter(type="payment_intent.succeeded").exists(), 20)
    due.run(now=timezone.now())
    order.refresh_from_db()
    assert order.status == "fulfilled"
