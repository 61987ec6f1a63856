"""The demo price list: invented figures, marked as demo wherever they show. Again changes nothing."""

from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction

from django.db import transaction

from billing.models import TaxRate, VolumeTier
from billing.services import prices
from clusters.models import NodeType
from core.money import round_half_up

SINCE = datetime(2026, 1, 1, tzinfo=UTC)
CENTS_PER_GPU_HOUR = {  # USD, keyed by the slug of the GPU model
    "t4": 35,
    "a30": 60,
    "l40": 100,
    "l40s": 150,
    "a100": 180,
    "h100": 320,
    "h200": 399,
    "b200": 600,
    "ascend-910b": 160,
}
HOURS = {"day": 24, "month": 30 * 24, "year": 365 * 24}
FACTOR = {"day": Fraction(1), "month": Fraction(85, 100), "year": Fraction(60, 100)}
RATE = {"USD": Fraction(1), "CNY": Fraction(720, 100)}
TIERS = {16: Decimal(3), 64: Decimal(6), 256: Decimal(10)}
TAXES = {"CN": ("VAT (demo)", Decimal(6))}


def amount(cents_per_gpu_hour: int, gpus: int, unit: str, currency: str) -> int:
    """Return the demo price of a node in minor units, rounded once."""
    return round_half_up(cents_per_gpu_hour * gpus * HOURS[unit] * FACTOR[unit] * RATE[currency])


def seed(*, now: datetime) -> None:
    """Write prices for every node type of the catalogue, volume tiers and a tax rate."""
    with transaction.atomic():
        for node_type in NodeType.objects.select_related("gpu_model"):
            cents = _list_price(node_type.gpu_model.slug)
            if cents is None:
                continue
            for unit in HOURS:
                for currency in RATE:
                    prices.set_price(
                        node_type=node_type,
                        unit=unit,
                        currency=currency,
                        amount=amount(cents, node_type.gpus_per_node, unit, currency),
                        from_=SINCE,
                        is_demo=True,
                    )
        for min_gpus, percent in TIERS.items():
            VolumeTier.objects.get_or_create(
                min_gpus=min_gpus, defaults={"percent": percent, "is_demo": True}
            )
        for country, (title, percent) in TAXES.items():
            TaxRate.objects.get_or_create(
                country=country, defaults={"title": title, "percent": percent, "is_demo": True}
            )


def _list_price(slug: str) -> int | None:
    """Return the price of a chip; a slug may carry more, such as ``a100-80gb``."""
    found = [name for name in CENTS_PER_GPU_HOUR if slug == name or slug.startswith(f"{name}-")]
    return CENTS_PER_GPU_HOUR[max(found, key=len)] if found else None
