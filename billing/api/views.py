"""REST calls of money: catalogue with prices, quotes, orders, payments, invoices."""

from collections.abc import Sequence
from typing import Any, ClassVar

from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.base import BerthAPIView
from billing import reads, states
from billing.api import serializers, shapes
from billing.models import Order
from billing.services import orders, quotes
from core import errors
from core.money import CURRENCIES
from core.rest import pagination, problems
from core.rest.serializers import EmptySerializer

PROBLEM = problems.MEDIA_TYPE


def _valid(serializer: Any, data: Any) -> dict[str, Any]:
    form = serializer(data=data)
    form.is_valid(raise_exception=True)
    values: dict[str, Any] = form.validated_data
    return values


def _conflict(serializer: Any, description: str) -> dict[tuple[int, str], OpenApiResponse]:
    return {(409, PROBLEM): OpenApiResponse(serializer, description=description)}


class NodeTypesView(BerthAPIView):
    """Server types with list prices."""

    rights: ClassVar = {"GET": "catalog:read"}
    paged = True

    @extend_schema(
        operation_id="node_types_list",
        parameters=[OpenApiParameter("currency", str, enum=CURRENCIES, description="Default: yours.")],
        responses=pagination.page_serializer(serializers.NodeTypeSerializer),
    )
    def get(self, request: Request) -> Response:
        """List the node types on offer, in the order of the catalogue."""
        currency = _one_of(request, "currency", CURRENCIES) or self.organisation.currency
        page = pagination.paginate(reads.node_types(), request.query_params, oldest_first=True)
        offered = reads.catalogue(page.items, currency=currency, now=timezone.now())
        shown = serializers.NodeTypeSerializer([shapes.node_type(each) for each in offered], many=True)
        return Response({"items": shown.data, "next": page.next})


class QuotesView(BerthAPIView):
    """Priced offers."""

    rights: ClassVar = {"POST": "billing:write"}

    @extend_schema(
        operation_id="quotes_create",
        request=serializers.QuoteRequestSerializer,
        responses={201: serializers.QuoteSerializer},
    )
    def post(self, request: Request) -> Response:
        """Price a cluster for a term; the offer stands until ``expires_at``."""
        wanted = _valid(serializers.QuoteRequestSerializer, request.data)
        quote = quotes.create(
            organisation=self.organisation,
            **wanted,
            user=self.access.user,
            actor=self.access.actor,
            idempotency_key=request.idempotency_key,  # type: ignore[attr-defined]
            now=timezone.now(),
        )
        return Response(serializers.QuoteSerializer(shapes.quote(quote)).data, status=201)


class QuoteView(BerthAPIView):
    """One priced offer."""

    rights: ClassVar = {"GET": "billing:read"}

    @extend_schema(operation_id="quotes_retrieve", responses=serializers.QuoteSerializer)
    def get(self, request: Request, quote_id: str) -> Response:
        """Return a quote."""
        quote = reads.quotes(self.organisation).get_or_404(quote_id)
        return Response(serializers.QuoteSerializer(shapes.quote(quote)).data)


class OrderAnswers(BerthAPIView):
    """What all calls about orders answer with."""

    def shape(self, order: Order) -> Any:
        """Return an order as this caller may see it."""
        may_pay = self.access.allows("billing:write")
        return serializers.OrderSerializer(shapes.order(order, may_pay=may_pay)).data

    def answer(self, order_id: str, status: int = 200) -> Response:
        """Return the order as it stands now."""
        return Response(self.shape(reads.orders(self.organisation).get_or_404(order_id)), status=status)


class OrdersView(OrderAnswers):
    """Accepted quotes."""

    rights: ClassVar = {"GET": "billing:read", "POST": "billing:write"}
    paged = True

    @extend_schema(
        operation_id="orders_list",
        parameters=[OpenApiParameter("status", str, enum=states.ORDER.states)],
        responses=pagination.page_serializer(serializers.OrderSerializer),
    )
    def get(self, request: Request) -> Response:
        """List orders, newest first."""
        rows = reads.orders(self.organisation)
        if status := _one_of(request, "status", states.ORDER.states):
            rows = rows.filter(status=status)
        return Response(pagination.paginate(rows, request.query_params).answer(self.shape))

    @extend_schema(
        operation_id="orders_create",
        request=serializers.OrderRequestSerializer,
        responses={
            (201, "application/json"): serializers.OrderSerializer,
            **_conflict(
                serializers.OrderConflictSerializer, "sold_out, quote_expired, quote_accepted, too_many_holds"
            ),
        },
    )
    def post(self, request: Request) -> Response:
        """Accept a quote: the nodes are held while you pay. A declined payment keeps the hold."""
        wanted = _valid(serializers.OrderRequestSerializer, request.data)
        method, options = _method(wanted["payment"])
        order = orders.place(
            organisation=self.organisation,
            quote_id=wanted["quote"],
            method=method,
            options=options,
            name=wanted.get("name", ""),
            user=self.access.user,
            actor=self.access.actor,
            idempotency_key=request.idempotency_key,  # type: ignore[attr-defined]
            now=timezone.now(),
        )
        return self.answer(order.pk, 201)


class OrderView(OrderAnswers):
    """One order."""

    rights: ClassVar = {"GET": "billing:read"}

    @extend_schema(operation_id="orders_retrieve", responses=serializers.OrderSerializer)
    def get(self, request: Request, order_id: str) -> Response:
        """Return an order."""
        return self.answer(order_id)


class CancelOrderView(OrderAnswers):
    """The way out of an order that is not paid."""

    rights: ClassVar = {"POST": "billing:write"}

    @extend_schema(
        operation_id="orders_cancel",
        request=None,
        responses={
            (200, "application/json"): serializers.OrderSerializer,
            **_conflict(serializers.StateConflictSerializer, "invalid_state"),
        },
    )
    def post(self, request: Request, order_id: str) -> Response:
        """Cancel an order that is not fulfilled; its nodes are free again."""
        _valid(EmptySerializer, request.data or {})
        now = timezone.now()
        orders.cancel(organisation=self.organisation, order_id=order_id, actor=self.access.actor, now=now)
        return self.answer(order_id)


class PaymentsView(OrderAnswers):
    """Trying again to pay."""

    rights: ClassVar = {"POST": "billing:write"}

    @extend_schema(
        operation_id="orders_pay",
        request=serializers.PaymentRequestSerializer,
        responses={
            (201, "application/json"): serializers.OrderSerializer,
            **_conflict(serializers.StateConflictSerializer, "invalid_state, payment_open"),
        },
    )
    def post(self, request: Request, order_id: str) -> Response:
        """Try again after a declined payment, while the hold lasts."""
        reads.orders(self.organisation).get_or_404(order_id)  # a stranger's order comes before a wrong body
        method, options = _method(_valid(serializers.PaymentRequestSerializer, request.data))
        orders.pay_again(
            organisation=self.organisation,
            order_id=order_id,
            method=method,
            options=options,
            actor=self.access.actor,
            idempotency_key=request.idempotency_key,  # type: ignore[attr-defined]
            now=timezone.now(),
        )
        return self.answer(order_id, 201)


class InvoicesView(BerthAPIView):
    """Invoices."""

    rights: ClassVar = {"GET": "billing:read"}
    paged = True

    @extend_schema(
        operation_id="invoices_list",
        parameters=[
            OpenApiParameter("order", str),
            OpenApiParameter("status", str, enum=states.INVOICE.states),
        ],
        responses=pagination.page_serializer(serializers.InvoiceSerializer),
    )
    def get(self, request: Request) -> Response:
        """List invoices, newest first."""
        rows = reads.invoices(self.organisation)
        if status := _one_of(request, "status", states.INVOICE.states):
            rows = rows.filter(status=status)
        if order := request.query_params.get("order"):
            rows = rows.filter(order=order)
        page = pagination.paginate(rows, request.query_params)
        return Response(page.answer(lambda row: serializers.InvoiceSerializer(shapes.invoice(row)).data))


class InvoiceView(BerthAPIView):
    """One invoice."""

    rights: ClassVar = {"GET": "billing:read"}

    @extend_schema(operation_id="invoices_retrieve", responses=serializers.InvoiceSerializer)
    def get(self, request: Request, invoice_id: str) -> Response:
        """Return an invoice with its lines."""
        row = reads.invoices(self.organisation).get_or_404(invoice_id)
        return Response(serializers.InvoiceSerializer(shapes.invoice(row)).data)


def _one_of(request: Request, name: str, words: Sequence[str]) -> str | None:
    """Return a filter of the query, None without it; raises Invalid for a word that is not allowed."""
    value = request.query_params.get(name)
    if value is not None and value not in words:
        detail = _("Choose one of: {words}.").format(words=", ".join(words))
        raise errors.Invalid.field(name, "unknown", detail)
    return value


def _method(payment: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    options = {"outcome": payment["outcome"]} if "outcome" in payment else {}
    return payment["method"], options
