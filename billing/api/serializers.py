"""Bodies and answers of the REST API of money, as the contract has them."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from billing import periods, states
from billing.gateways.registry import OUTCOMES
from billing.services import quotes
from core.money import CURRENCIES
from core.rest.fields import ZTime
from core.rest.serializers import MoneySerializer, ProblemSerializer, StrictSerializer

METHODS = ("test", "stripe", "balance", "transfer")


@extend_schema_field({"type": "integer", "minimum": 1, "maximum": quotes.MAX_NODES})
class NodesField(serializers.IntegerField):
    """A number of nodes; the service says in words what is out of range."""


@extend_schema_field({"type": "integer", "minimum": 1, "maximum": max(periods.MAX_COUNT.values())})
class CountField(serializers.IntegerField):
    """How many days, months or years."""


class TermPartSerializer(StrictSerializer):
    """One unit of a term."""

    unit = serializers.ChoiceField(choices=periods.UNITS)
    count = CountField()


class TermSerializer(TermPartSerializer):
    """A term; ``then`` adds further units: one month, then fourteen days."""

    then = serializers.ListField(child=TermPartSerializer(), required=False, max_length=2)


class QuoteRequestSerializer(StrictSerializer):
    """What to price. Without ``starts_at`` it starts when the order is placed."""

    node_type = serializers.CharField(max_length=60, help_text="Slug or id.")
    site = serializers.CharField(max_length=60, help_text="Slug or id.")
    nodes = NodesField()
    term = TermSerializer()
    starts_at = ZTime(required=False, allow_null=True)
    currency = serializers.ChoiceField(choices=CURRENCIES, required=False)


class QuoteLineSerializer(serializers.Serializer):
    """A line of a quote or invoice."""

    kind = serializers.ChoiceField(choices=("goods", "discount", "tax"))
    description = serializers.CharField()
    quantity = serializers.IntegerField()
    unit_price = MoneySerializer()
    amount = MoneySerializer()


class CheaperSerializer(serializers.Serializer):
    """A term that covers the same span for less; it can be quoted as it stands."""

    term = TermSerializer()
    total = MoneySerializer()
    reason = serializers.CharField()


class QuoteSerializer(serializers.Serializer):
    """A priced offer."""

    id = serializers.CharField()
    kind = serializers.CharField()
    node_type = serializers.CharField(help_text="Slug.")
    site = serializers.CharField(help_text="Slug.")
    nodes = serializers.IntegerField()
    term = TermSerializer()
    lines = QuoteLineSerializer(many=True)
    subtotal = MoneySerializer()
    discount = MoneySerializer()
    tax = MoneySerializer()
    total = MoneySerializer()
    starts_at = ZTime(help_text="Indicative when the quote starts now: fixed when the order is placed.")
    ends_at = ZTime()
    expires_at = ZTime()
    order = serializers.CharField(allow_null=True)
    cheaper = CheaperSerializer(allow_null=True)


class PaymentRequestSerializer(StrictSerializer):
    """How to pay. ``outcome`` is for the test method alone."""

    method = serializers.ChoiceField(choices=METHODS)
    outcome = serializers.ChoiceField(choices=OUTCOMES, required=False)


class OrderRequestSerializer(StrictSerializer):
    """Accepts a quote; ``name`` is what the cluster will be called."""

    quote = serializers.CharField(max_length=60)
    payment = PaymentRequestSerializer()
    name = serializers.CharField(max_length=100, required=False, allow_blank=True)


class PaymentSerializer(serializers.Serializer):
    """The latest attempt to pay."""

    id = serializers.CharField()
    method = serializers.ChoiceField(choices=METHODS)
    status = serializers.ChoiceField(choices=states.PAYMENT.states)
    amount = MoneySerializer()
    failure = serializers.CharField(allow_null=True, help_text="Why it failed and what to do next.")
    client_secret = serializers.CharField(required=False)


class OrderSerializer(serializers.Serializer):
    """An accepted quote."""

    id = serializers.CharField()
    quote = serializers.CharField()
    status = serializers.ChoiceField(choices=states.ORDER.states)
    message = serializers.CharField(allow_blank=True)
    cluster = serializers.CharField(allow_null=True)
    invoice = serializers.CharField(allow_null=True)
    total = MoneySerializer()
    hold_expires_at = ZTime(allow_null=True)
    created_at = ZTime()
    paid_at = ZTime(allow_null=True)
    payment = PaymentSerializer(allow_null=True)


class InvoiceLineSerializer(QuoteLineSerializer):
    """A line with the period that it is for."""

    period_start = ZTime(allow_null=True)
    period_end = ZTime(allow_null=True)


class PartySerializer(serializers.Serializer):
    """Seller or buyer, as they were when the invoice was issued."""

    name = serializers.CharField()
    address = serializers.CharField(allow_blank=True)
    country = serializers.CharField(allow_blank=True)
    tax_id = serializers.CharField(allow_blank=True)


class InvoiceSerializer(serializers.Serializer):
    """An invoice."""

    id = serializers.CharField()
    number = serializers.CharField()
    status = serializers.ChoiceField(choices=states.INVOICE.states)
    issued_at = ZTime()
    due_at = ZTime()
    currency = serializers.ChoiceField(choices=CURRENCIES)
    lines = InvoiceLineSerializer(many=True)
    subtotal = MoneySerializer()
    discount = MoneySerializer()
    tax = MoneySerializer()
    total = MoneySerializer()
    amount_due = MoneySerializer()
    order = serializers.CharField(allow_null=True)
    seller = PartySerializer()
    buyer = PartySerializer()


class PriceSerializer(serializers.Serializer):
    """The list price of a node, and the same per GPU-hour for show."""

    unit = serializers.ChoiceField(choices=periods.UNITS)
    per_node = MoneySerializer()
    per_gpu_hour = MoneySerializer()


class GpuSerializer(serializers.Serializer):
    """A chip; TFLOPS are dense, and null where nobody states them."""

    slug = serializers.CharField()
    name = serializers.CharField()
    vendor = serializers.CharField()
    memory_gb = serializers.IntegerField()
    bandwidth_gbs = serializers.IntegerField(allow_null=True)
    fp16_tflops = serializers.FloatField(allow_null=True)
    bf16_tflops = serializers.FloatField(allow_null=True)
    fp8_tflops = serializers.FloatField(allow_null=True)
    tf32_tflops = serializers.FloatField(allow_null=True)
    fp32_tflops = serializers.FloatField(allow_null=True)
    official = serializers.BooleanField()


class NodeTypeSerializer(serializers.Serializer):
    """A server type with its prices in one currency."""

    id = serializers.CharField()
    slug = serializers.CharField()
    gpu_model = GpuSerializer()
    gpus_per_node = serializers.IntegerField()
    vcpus = serializers.IntegerField()
    memory_gb = serializers.IntegerField()
    nvme_tb = serializers.FloatField()
    interconnect = serializers.CharField()
    fabric = serializers.CharField()
    demo_prices = serializers.BooleanField(help_text="The prices are invented.")
    prices = PriceSerializer(many=True)
    sites = serializers.ListField(child=serializers.CharField())


def _with(name: str, **fields: Any) -> type[ProblemSerializer]:
    return type(name, (ProblemSerializer,), fields)


OrderConflictSerializer = _with(
    "OrderConflictProblem",
    __doc__="sold_out names the next start, quote_accepted the order; both are absent otherwise.",
    next_start=ZTime(required=False, allow_null=True),
    order=serializers.CharField(required=False),
)
StateConflictSerializer = _with(
    "StateConflictProblem",
    __doc__="The order does not allow it in its present state.",
    state=serializers.CharField(required=False),
)
