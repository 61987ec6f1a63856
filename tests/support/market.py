"""A market for tests of pages: a pool with prices, or the whole demo catalogue."""

from datetime import UTC, datetime
from typing import Any

from billing.services import demo as billing_demo
from billing.services import prices
from clusters import catalogue_data
from clusters.models import GpuModel, NodeType, Site
from tests.support import fleet

SINCE = datetime(2020, 1, 1, tzinfo=UTC)
PER_NODE = {"day": 552_960, "month": 14_100_480, "year": 121_098_240}  # fen: eight GPUs of the demo list


def stocked(number: int = 4, **type_fields: Any) -> tuple[Site, NodeType]:
    """Return a site with nodes of one type and prices in both currencies."""
    site, kind = fleet.pool(number, **type_fields)
    priced(kind)
    return site, kind


def priced(kind: NodeType) -> None:
    """Give a type the prices of the demo list, scaled to its GPUs."""
    for unit, amount in PER_NODE.items():
        for currency, part in (("CNY", 1), ("USD", 7)):
            scaled = amount * kind.gpus_per_node // 8 // part
            prices.set_price(node_type=kind, unit=unit, currency=currency, amount=scaled, from_=SINCE)


def demo() -> Site:
    """Return the site of the demo catalogue with a few nodes of every type, and the demo price list."""
    site = fleet.site(name="Shanghai 1", slug="shanghai-1")
    for row in catalogue_data.GPU_MODELS:
        GpuModel.objects.create(**row, position=catalogue_data.GPU_MODELS.index(row))
    for position, row in enumerate(catalogue_data.NODE_TYPES):
        fields = {key: value for key, value in row.items() if key != "gpu"}
        model = GpuModel.objects.get(slug=row["gpu"])
        kind = NodeType.objects.create(**fields, gpu_model=model, position=position)
        for number, size in enumerate(catalogue_data.EMBEDDED_NODES[kind.slug]):
            fleet.nodes(site, kind, size, domain=f"{kind.slug}-{number}")
    billing_demo.seed(now=SINCE)
    return site
