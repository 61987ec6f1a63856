"""The beat's sweep: found by index, constant when nothing waits, never blocked by one broken row."""

from datetime import timedelta

import pytest
from celery import current_app
from django.conf import settings
from django.db import connection

from billing import tasks
from billing.models import Order, Payment, PaymentEvent, Refund
from billing.services import due, orders
from tests.support import shop

pytestmark = pytest.mark.django_db
LATE = shop.NOW + timedelta(minutes=16)


def test_nothing_due_costs_one_query_per_kind(django_assert_num_queries):
    for _each in range(3):
        shop.paid_order()
    with django_assert_num_queries(4):
        assert due.run(now=shop.NOW) == 0


@pytest.mark.parametrize(
    ("model", "index"),
    [
        (Order, "order_due"),
        (Payment, "payment_due"),
        (Refund, "refund_due"),
        (PaymentEvent, "payment_event_due"),
    ],
)
def test_what_waits_is_found_by_its_index(model, index):
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
    rows = model.objects.filter(due_at__lte=LATE).order_by("due_at")[: due.BATCH]
    assert f"{index} " in rows.explain()


def test_one_broken_row_is_put_off_and_the_others_go_on(monkeypatch, caplog):
    broken, fine = shop.waiting_order(), shop.waiting_order()
    expire = orders.expire

    def fail_for_one(*, order_id, now):
        if order_id == broken.pk:
            raise RuntimeError("broken row")
        expire(order_id=order_id, now=now)

    monkeypatch.setattr(orders, "expire", fail_for_one)
    due.run(now=LATE)
    broken.refresh_from_db()
    fine.refresh_from_db()
    assert (broken.status, fine.status) == ("pending", "expired")
    assert broken.due_at == LATE + due.AFTER_FAULT
    assert "could not be processed" in caplog.text
    monkeypatch.setattr(orders, "expire", expire)
    due.run(now=LATE + due.AFTER_FAULT)
    broken.refresh_from_db()
    assert broken.status == "expired"


def test_the_beat_and_the_hints_call_tasks_that_exist():
    assert settings.CELERY_BEAT_SCHEDULE["billing-due"]["task"] == tasks.process_due.name
    for name in ("process_due", "drive_payment", "drive_refund", "process_event"):
        assert f"billing.{name}" in current_app.tasks


def test_tasks_on_rows_that_are_done_do_nothing():
    order = shop.paid_order()
    payment = order.payments.get()
    tasks.drive_payment(payment.pk)
    tasks.drive_refund("ref_nothing")
    tasks.process_event("pev_nothing")
    tasks.process_due()
    payment.refresh_from_db()
    assert payment.attempts == 1
