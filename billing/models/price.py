"""The price book: list prices with effective dates, volume tiers, tax rates."""

from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import DateTimeRangeField, RangeOperators
from django.db import models

from clusters.models import NodeType
from core import ids
from core.money import CURRENCIES

UNITS = ("day", "month", "year")


class Price(models.Model):
    """What one node of a type costs for one unit of time, within its span of validity."""

    id = ids.PublicIdField("prc")
    node_type = models.ForeignKey(NodeType, models.CASCADE, related_name="prices")
    unit = models.CharField(max_length=5, choices=[(unit, unit) for unit in UNITS])
    currency = models.CharField(max_length=3, choices=[(c, c) for c in CURRENCIES])
    amount = models.BigIntegerField()  # minor units per node
    valid = DateTimeRangeField(default_bounds="[)")
    is_demo = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(amount__gt=0), name="price_positive"),
            ExclusionConstraint(
                name="price_one_at_a_time",
                expressions=[
                    ("node_type", RangeOperators.EQUAL),
                    ("unit", RangeOperators.EQUAL),
                    ("currency", RangeOperators.EQUAL),
                    ("valid", RangeOperators.OVERLAPS),
                ],
            ),
        ]


class VolumeTier(models.Model):
    """From this many GPUs on, this much off the goods: a negative line of its own."""

    id = ids.PublicIdField("vol")
    min_gpus = models.PositiveIntegerField(unique=True)
    percent = models.DecimalField(max_digits=5, decimal_places=2)
    is_demo = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(percent__gte=0, percent__lt=100), name="tier_percent")
        ]


class TaxRate(models.Model):
    """The rate that customers of a country pay; no row means none."""

    id = ids.PublicIdField("tax")
    country = models.CharField(max_length=2, unique=True)
    title = models.CharField(max_length=60)
    percent = models.DecimalField(max_digits=5, decimal_places=2)
    is_demo = models.BooleanField(default=False)
