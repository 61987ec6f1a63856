"""Orders: placed once, paid once, ended honestly. Each case that a customer can run into has its sentence."""

from datetime import timedelta

import pytest
from django.db.models import Sum

from accounts.models import AuditEntry
from billing import wording
from billing.models import Invoice, LedgerPosting, Order, Payment, Refund
from billing.services import orders, payments
from clusters.models import Cluster, Reservation
from clusters.services import bookings
from core import errors
from tests.support import fleet, people, shop

pytestmark = pytest.mark.django_db
NOW = shop.NOW
MINUTE = timedelta(minutes=1)
HOLD = timedelta(minutes=15)


def balances():
    rows = LedgerPosting.objects.values("account").annotate(sum=Sum("amount"))
    return {row["account"]: row["sum"] for row in rows if row["sum"]}


def approve(order: Order, now) -> Order:
    """What the customer does at the bank: the waiting test payment succeeds."""
    payment = order.payments.get(status="requires_action")
    payment.options = {"outcome": "succeeded"}
    payment.save(update_fields=["options"])
    payments.drive(payment_id=payment.pk, now=now)
    order.refresh_from_db()
    return order


def test_a_paid_order_is_fulfilled_with_cluster_invoice_and_ledger():
    place = shop.open_shop(tax=True)
    order = shop.paid_order(place, nodes=2)
    cluster = order.cluster
    assert cluster.status == "provisioning"
    assert (cluster.starts_at, cluster.ends_at) == (NOW, NOW + timedelta(days=1))
    assert Reservation.objects.filter(cluster=cluster, kind="cluster").count() == 2
    invoice = order.invoice
    assert invoice.number == "INV-2026-000001"
    assert (invoice.status, invoice.total, invoice.amount_paid) == ("paid", order.total, order.total)
    assert [line.amount for line in invoice.lines.all()] == [row["amount"] for row in order.quote.lines]
    assert balances() == {
        "cash": order.total,
        "deferred_revenue": -(invoice.total - invoice.tax),
        "tax": -invoice.tax,
    }
    assert order.payments.get().status == "succeeded"
    place.organisation.refresh_from_db()
    assert place.organisation.terms_fixed_at == NOW
    actions = set(AuditEntry.objects.values_list("action", flat=True))
    assert {"quote.created", "order.placed", "order.paid"} <= actions


def test_seller_and_buyer_are_frozen():
    order = shop.paid_order()
    organisation = order.organisation
    was = organisation.name
    organisation.name = "Renamed"
    organisation.save()
    order.invoice.refresh_from_db()
    assert order.invoice.buyer["name"] == was
    assert set(order.invoice.seller) == {"name", "address", "country", "tax_id"}


def test_a_future_window_is_scheduled():
    start = NOW + timedelta(days=3)
    order = shop.paid_order(starts_at=start)
    assert order.cluster.status == "scheduled"
    assert order.cluster.starts_at == start


def test_double_click_is_one_order():
    place = shop.open_shop()
    quote = shop.quote(place)
    first = shop.place(place, of=quote, key="click")
    again = shop.place(place, of=quote, key="click", now=NOW + MINUTE)
    assert first.pk == again.pk
    assert (Order.objects.count(), Payment.objects.count(), Cluster.objects.count()) == (1, 1, 1)


def test_a_quote_is_accepted_once():
    place = shop.open_shop()
    quote = shop.quote(place)
    order = shop.place(place, of=quote, key="one")
    with pytest.raises(errors.Conflict) as caught:
        shop.place(place, of=quote, key="two")
    assert caught.value.code == "quote_accepted"
    assert caught.value.extra == {"order": order.pk}
    with pytest.raises(errors.Invalid) as caught:
        shop.place(place, key="one")
    assert caught.value.code == "idempotency_key_reused"


def test_an_expired_quote_is_refused():
    place = shop.open_shop()
    quote = shop.quote(place)
    with pytest.raises(orders.QuoteExpired) as caught:
        shop.place(place, of=quote, now=quote.expires_at)
    assert caught.value.code == "quote_expired"
    assert "Make a new one" in caught.value.detail
    assert not Cluster.objects.exists()


def test_sold_out_says_when():
    place = shop.open_shop(1)
    held = shop.paid_order(place)
    with pytest.raises(bookings.SoldOut) as caught:
        shop.place(place)
    assert caught.value.code == "sold_out"
    assert caught.value.next_start >= held.cluster.ends_at
    assert Order.objects.count() == 1


def test_strangers_find_no_quote_and_no_order():
    place, stranger = shop.open_shop(), people.member()
    quote = shop.quote(place)
    with pytest.raises(errors.NotFound):
        shop.place(place, of=quote, by=stranger)
    order = shop.waiting_order(place)
    for call in (
        lambda: orders.cancel(
            organisation=stranger.organisation, order_id=order.pk, actor=people.actor(stranger), now=NOW
        ),
        lambda: orders.pay_again(
            organisation=stranger.organisation,
            order_id=order.pk,
            method="test",
            actor=people.actor(stranger),
            now=NOW,
        ),
    ):
        with pytest.raises(errors.NotFound):
            call()


@pytest.mark.parametrize("method", ["balance", "transfer", "stripe", "gold"])
def test_methods_that_are_not_there_are_refused(method):
    place = shop.open_shop()
    with pytest.raises(errors.Invalid) as caught:
        orders.place(
            organisation=place.organisation,
            quote_id=shop.quote(place).pk,
            method=method,
            user=None,
            actor=people.actor(place.owner),
            now=NOW,
        )
    assert caught.value.code == "unsupported_method"
    assert not Order.objects.exists()


def again(order: Order, owner, now=NOW + MINUTE, key=None, outcome="succeeded") -> Order:
    return orders.pay_again(
        organisation=owner.organisation,
        order_id=order.pk,
        method="test",
        options={"outcome": outcome},
        actor=people.actor(owner),
        idempotency_key=key,
        now=now,
    )


def test_declined_keeps_the_hold_and_can_be_tried_again():
    place = shop.open_shop()
    order = shop.place(place, outcome="declined")
    payment = order.payments.get()
    assert (order.status, payment.status) == ("pending", "failed")
    assert order.cluster.status == "held"
    assert order.hold_expires_at == NOW + HOLD
    assert "Your hold stays" in wording.payment_failure(payment.failure_code)
    assert again(order, place.owner, outcome="declined", key="a").status == "pending"
    assert again(order, place.owner, outcome="declined", key="a").payments.count() == 2
    done = again(order, place.owner, key="b")
    assert done.status == "fulfilled"
    assert done.payments.count() == 3
    with pytest.raises(errors.InvalidState):
        again(order, place.owner, key="c")


def test_an_open_payment_is_continued_not_doubled():
    place = shop.open_shop()
    order = shop.waiting_order(place)
    assert again(order, place.owner).payments.count() == 1


def test_the_hold_runs_out():
    place = shop.open_shop(1)
    order = shop.waiting_order(place)
    shop.run_due(NOW + HOLD - MINUTE)
    order.refresh_from_db()
    assert order.status == "pending"
    shop.run_due(NOW + HOLD)
    order.refresh_from_db()
    assert (order.status, order.due_at) == ("expired", None)
    assert "time to pay ran out" in wording.order_message(order.message)
    assert order.cluster.status == "cancelled"
    assert order.payments.get().status == "failed"
    assert not Reservation.objects.exists()
    with pytest.raises(errors.InvalidState) as caught:
        again(order, place.owner, now=NOW + HOLD)
    assert "Make a new quote" in caught.value.detail


def test_trying_again_after_the_hold_ends_it():
    place = shop.open_shop(1)
    order = shop.place(place, outcome="declined")
    with pytest.raises(errors.InvalidState):
        again(order, place.owner, now=NOW + HOLD)
    order.refresh_from_db()
    assert order.status == "expired"


def test_placing_clears_an_expired_hold_in_its_way():
    place = shop.open_shop(1)
    old = shop.waiting_order(place)
    with pytest.raises(bookings.SoldOut):
        shop.place(place, by=people.member(), now=NOW + HOLD - MINUTE)
    new = shop.place(place, by=people.member(), now=NOW + HOLD)
    old.refresh_from_db()
    assert (old.status, new.status) == ("expired", "fulfilled")


def test_paid_in_the_last_moment_before_the_hold_was_ended():
    order = approve(shop.waiting_order(), NOW + HOLD + MINUTE)
    assert order.status == "fulfilled"


def test_paid_late_with_room_left_starts_at_the_payment():
    order = shop.waiting_order()
    late = NOW + timedelta(hours=1)
    orders.expire(order_id=order.pk, now=NOW + HOLD)
    order = approve(order, late)
    assert (order.status, order.message) == ("fulfilled", "reheld")
    order.cluster.refresh_from_db()
    assert (order.cluster.starts_at, order.cluster.ends_at) == (late, late + timedelta(days=1))
    assert Invoice.objects.count() == 1
    assert not Refund.objects.exists()


def test_paid_late_without_room_gives_the_money_back():
    place = shop.open_shop(1)
    order = shop.waiting_order(place)
    orders.expire(order_id=order.pk, now=NOW + HOLD)
    shop.paid_order(place, by=people.member(), now=NOW + HOLD)
    before = balances()
    order = approve(order, NOW + HOLD + MINUTE)
    assert (order.status, order.message) == ("unfulfillable", "paid_late")
    assert "all of your money back" in wording.order_message(order.message)
    refund = Refund.objects.get()
    assert refund.amount == order.total
    shop.run_due(NOW + HOLD + MINUTE)
    refund.refresh_from_db()
    order.refresh_from_db()
    assert (refund.status, order.status) == ("succeeded", "refunded")
    assert refund.payment.status == "refunded"
    assert balances() == before
    assert not Invoice.objects.filter(order=order).exists()


def test_cancel_frees_the_nodes_and_late_money_goes_back():
    place = shop.open_shop(1)
    order = shop.waiting_order(place)
    who = {"organisation": place.organisation, "order_id": order.pk, "actor": people.actor(place.owner)}
    for _twice in range(2):
        assert orders.cancel(**who, now=NOW + MINUTE).status == "cancelled"
    assert not Reservation.objects.exists()
    order = approve(order, NOW + 2 * MINUTE)
    shop.run_due(NOW + 2 * MINUTE)
    order.refresh_from_db()
    assert (order.status, order.message) == ("refunded", "paid_after_cancel")
    assert balances() == {}


def test_a_fulfilled_order_cannot_be_cancelled():
    place = shop.open_shop()
    order = shop.paid_order(place)
    with pytest.raises(errors.InvalidState) as caught:
        orders.cancel(
            organisation=place.organisation, order_id=order.pk, actor=people.actor(place.owner), now=NOW
        )
    assert caught.value.extra == {"state": "fulfilled"}


def test_nothing_to_pay_skips_the_payment():
    place = shop.open_shop()
    quote = shop.quote(place)
    type(quote).objects.filter(pk=quote.pk).update(total=0, subtotal=quote.total, discount=quote.total)
    order = shop.place(place, of=quote)
    assert order.status == "fulfilled"
    assert not Payment.objects.exists()
    assert order.invoice.total == 0


def test_the_default_name_and_a_given_one():
    place = shop.open_shop()
    assert shop.paid_order(place).cluster.name == f"{place.node_type.gpu_model.name} × 8"
    quote = shop.quote(place)
    order = orders.place(
        organisation=place.organisation,
        quote_id=quote.pk,
        method="test",
        name="大模型 🚀",
        user=place.owner.user,
        actor=people.actor(place.owner),
        now=NOW,
    )
    assert order.cluster.name == "大模型 🚀"
    assert fleet.NOW == NOW
