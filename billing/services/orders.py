"""Places orders and ends them: hold, order and payment row in one transaction, the gateway after it."""

from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from accounts.models import Organisation, User
from accounts.services import audit
from billing import periods, wording
from billing.gateways import port
from billing.models import Order, Payment, Quote
from billing.services import holds, payments, settlement
from clusters.services import bookings
from core import calendar, dispatch, errors
from core.actors import Actor


class QuoteExpired(errors.Conflict):
    """The offer no longer stands."""

    code = "quote_expired"


def place(
    *,
    organisation: Organisation,
    quote_id: str,
    method: str | None,
    options: dict[str, Any] | None = None,
    name: str = "",
    user: User | None,
    actor: Actor,
    idempotency_key: str | None = None,
    now: datetime,
) -> Order:
    """Accept a quote: take its nodes and start the payment. A quote is accepted once.

    Without a method the nodes are held and nothing is charged yet: :func:`pay_again` follows. The same key
    continues the same order; another key on an accepted quote is refused. Raises Conflict (sold_out with
    the next start, quote_expired, quote_accepted, too_many_holds) and Invalid (unsupported_method).
    """
    with transaction.atomic():
        quote = (
            Quote.objects.for_org(organisation)
            .select_for_update(of=("self",))
            .select_related("site", "node_type__gpu_model")
            .get_or_404(quote_id)
        )
        if method is not None:
            payments.check_method(method, options or {})
        order = _accepted(quote, organisation, idempotency_key)
        if order is None:
            order = _accept(quote, organisation, name, user, actor, idempotency_key, now)
            if order.total <= 0:
                settlement.fulfil(order=order, now=now)
            elif method is not None:
                payments.create(
                    order=order, method=method, options=options or {}, idempotency_key=None, now=now
                )
    return _drive_open(order, now)


def pay_again(
    *,
    organisation: Organisation,
    order_id: str,
    method: str,
    options: dict[str, Any] | None = None,
    actor: Actor,
    idempotency_key: str | None = None,
    now: datetime,
) -> Order:
    """Pay, or try again, while the hold lasts; an attempt that is still open is continued."""
    with transaction.atomic():
        order = _locked(organisation, order_id)
        payments.check_method(method, options or {})
        if idempotency_key and order.payments.filter(idempotency_key=idempotency_key).exists():
            return order
        if order.status == "pending" and order.hold_expires_at and order.hold_expires_at <= now:
            holds.end_hold(order, "expired", "hold_ended", actor=Actor.system("Berth"), now=now)
        if order.status == "pending":
            _next_payment(order, method, options or {}, actor, idempotency_key, now)
    if order.status != "pending":
        raise errors.InvalidState(_why_not_payable(order.status), extra={"state": order.status})
    return _drive_open(order, now)


def cancel(*, organisation: Organisation, order_id: str, actor: Actor, now: datetime) -> Order:
    """Cancel an order that is not fulfilled yet; its nodes are free again. Twice is no harm."""
    with transaction.atomic():
        order = _locked(organisation, order_id)
        if order.status == "pending":
            holds.end_hold(order, "cancelled", "cancelled", actor=actor, now=now)
            _drive_later(order)
        elif order.status != "cancelled":
            detail = _("This order is {status}, so it can no longer be cancelled.").format(
                status=wording.order_status(order.status)
            )
            raise errors.InvalidState(detail, extra={"state": order.status})
    order.refresh_from_db()
    return order


def expire(*, order_id: str, now: datetime) -> None:
    """End the hold of an order whose time to pay is up; anything else is left as it is."""
    with transaction.atomic():
        rows = Order.objects.select_for_update(of=("self",)).select_related("cluster", "organisation")
        order = rows.filter(pk=order_id, status="pending", hold_expires_at__lte=now).first()
        if order is None:
            Order.objects.filter(pk=order_id, due_at__lte=now).exclude(status="pending").update(due_at=None)
            return
        holds.end_hold(order, "expired", "hold_ended", actor=Actor.system("Berth"), now=now)
        _drive_later(order)


def _accepted(quote: Quote, organisation: Organisation, key: str | None) -> Order | None:
    """Return the order that this very request made before; raise when another one accepted the quote."""
    if key is not None and (
        Order.objects.for_org(organisation).filter(idempotency_key=key).exclude(quote=quote).exists()
    ):
        raise errors.Invalid(
            _("This key has placed another order already. Use a new one."), code="idempotency_key_reused"
        )
    order = Order.objects.filter(quote=quote).first()
    if order is None or (key is not None and order.idempotency_key == key):
        return order
    raise errors.Conflict(
        _("This quote has been accepted already. Open its order, or make a new quote for another cluster."),
        code="quote_accepted",
        extra={"order": order.pk},
    )


def _accept(
    quote: Quote,
    organisation: Organisation,
    name: str,
    user: User | None,
    actor: Actor,
    key: str | None,
    now: datetime,
) -> Order:
    _check_terms(quote, organisation, now)
    holds.check_room(organisation, now=now)
    start = now if quote.starts_now else quote.starts_at
    end = periods.end(start, quote.term, quote.zone)
    holds.clear_expired(quote.site, quote.node_type, start, end, now=now, wait=True)
    hold_until = now + settings.HOLD_TIME
    cluster = bookings.hold(
        organisation=organisation,
        site=quote.site,
        node_type=quote.node_type,
        nodes=quote.nodes,
        starts_at=start,
        ends_at=end,
        anchor_day=calendar.local_day(start, quote.zone),
        hold_until=hold_until,
        name=name.strip()
        or f"{quote.node_type.gpu_model.name} × {quote.nodes * quote.node_type.gpus_per_node}",
        created_by=user,
        now=now,
    )
    order = Order.objects.create(
        organisation=organisation,
        quote=quote,
        cluster=cluster,
        currency=quote.currency,
        total=quote.total,
        hold_expires_at=hold_until,
        due_at=hold_until,
        created_by=user,
        idempotency_key=key,
        created_at=now,
    )
    first = Organisation.objects.filter(pk=organisation.pk, terms_fixed_at=None).update(
        terms_fixed_at=now, currency=quote.currency, zone=quote.zone
    )
    if not first:  # another first order may have fixed other terms since the check above
        _check_terms(quote, organisation, now)
    after = {"quote": quote.pk, "cluster": cluster.pk, "total": order.total, "currency": order.currency}
    audit.record(
        actor=actor, action="order.placed", target=order, organisation=organisation, after=after, now=now
    )
    return order


def _check_terms(quote: Quote, organisation: Organisation, now: datetime) -> None:
    if quote.expires_at <= now:
        raise QuoteExpired(_("This quote has expired. Make a new one: it takes a moment."))
    terms = Organisation.objects.values("terms_fixed_at", "currency", "zone").get(pk=organisation.pk)
    fixed = terms["terms_fixed_at"] is not None
    if fixed and (terms["currency"], terms["zone"]) != (quote.currency, quote.zone):
        raise QuoteExpired(
            _("Currency or time zone of your organisation were fixed after this quote. Make a new one.")
        )


def _next_payment(
    order: Order, method: str, options: dict[str, Any], actor: Actor, key: str | None, now: datetime
) -> Payment:
    current = order.payments.filter(status__in=port.OPEN).first()
    if current is not None and current.method == method:
        return current
    if current is not None:
        raise errors.Conflict(
            _("A payment by {method} is still open. Finish it, or cancel the order.").format(
                method=current.method
            ),
            code="payment_open",
        )
    # An attempt that failed may still be open at the provider: it must not take money beside the new one.
    order.payments.filter(Q(status="failed") & ~Q(provider_id=None) & Q(method="stripe")).update(due_at=now)
    payment = payments.create(order=order, method=method, options=options, idempotency_key=key, now=now)
    audit.record(
        actor=actor,
        action="payment.started",
        target=payment,
        organisation=order.organisation,
        after={"order": order.pk, "method": method},
        now=now,
    )
    return payment


def _locked(organisation: Organisation, order_id: str) -> Order:
    rows = Order.objects.for_org(organisation).select_for_update(of=("self",))
    order: Order = rows.select_related("cluster", "organisation").get_or_404(order_id)
    return order


def _drive_open(order: Order, now: datetime) -> Order:
    """Take the open payment one step on, so that the answer already says where it stands."""
    for payment in order.payments.filter(status="pending"):
        payments.drive(payment_id=payment.pk, now=now)
    order.refresh_from_db()
    return order


def _drive_later(order: Order) -> None:
    for pk in order.payments.filter(due_at__isnull=False).values_list("pk", flat=True):
        dispatch.after_commit("billing.drive_payment", pk)


def _why_not_payable(status: str) -> str:
    if status == "expired":
        return _("The time to pay ran out and the nodes were given back. Make a new quote to try again.")
    return _("This order is {status}, so there is nothing to pay.").format(
        status=wording.order_status(status)
    )
