"""Nobody keeps the nodes from others with orders that he does not pay."""

from datetime import timedelta

import pytest

from billing.models import Order
from billing.services import orders
from core import errors
from tests.support import people, rivals, shop

NOW = shop.NOW


@pytest.mark.django_db
def test_an_organisation_has_few_unpaid_orders(settings) -> None:
    settings.OPEN_ORDERS_MOST = 2
    place = shop.open_shop(6)
    first, _second = shop.waiting_order(place), shop.waiting_order(place)
    with pytest.raises(errors.Conflict) as refusal:
        shop.waiting_order(place)
    assert refusal.value.code == "too_many_holds"
    assert "2 unpaid orders" in str(refusal.value.detail)
    stranger = people.member()
    assert shop.place(place, by=stranger, outcome="requires_action").status == "pending"
    actor = people.actor(place.owner)
    orders.cancel(organisation=place.organisation, order_id=first.pk, actor=actor, now=NOW)
    assert shop.waiting_order(place).status == "pending"


@pytest.mark.django_db
def test_paid_and_overdue_orders_do_not_count(settings) -> None:
    settings.OPEN_ORDERS_MOST = 1
    place = shop.open_shop(6)
    shop.paid_order(place)
    shop.waiting_order(place)
    later = NOW + settings.HOLD_TIME + timedelta(seconds=1)
    assert shop.place(place, now=later).status == "fulfilled"


@pytest.mark.django_db(transaction=True)
def test_orders_at_once_do_not_slip_past_the_limit(settings) -> None:
    settings.OPEN_ORDERS_MOST = 2
    place = shop.open_shop(8)
    offers = [shop.quote(place) for _ in range(8)]

    def order(number: int) -> str:
        try:
            return shop.place(place, of=offers[number], outcome="requires_action").status
        except errors.Conflict as refusal:
            return refusal.code

    found = rivals.run(8, order)
    assert sorted(found) == ["pending"] * 2 + ["too_many_holds"] * 6
    assert Order.objects.count() == 2
