"""Who has which node when: the exclusion constraint is why nothing is oversold."""

from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import DateTimeRangeField, RangeOperators
from django.contrib.postgres.indexes import GistIndex
from django.db import models

from clusters.models.cluster import Cluster
from clusters.models.fleet import Node
from core import ids


class Reservation(models.Model):
    """One node × one half-open time range. A turnaround follows the cluster that it cleans up after."""

    id = ids.PublicIdField("rsv")
    node = models.ForeignKey(Node, models.PROTECT, related_name="reservations", db_index=False)
    cluster = models.ForeignKey(
        Cluster, models.CASCADE, null=True, related_name="reservations", db_index=False
    )
    kind = models.CharField(max_length=12)  # cluster, maintenance, turnaround
    span = DateTimeRangeField(default_bounds="[)")
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            ExclusionConstraint(
                name="reservation_no_overlap",
                expressions=[("node", RangeOperators.EQUAL), ("span", RangeOperators.OVERLAPS)],
            ),
            models.CheckConstraint(
                condition=models.Q(kind__in=["cluster", "maintenance", "turnaround"]), name="reservation_kind"
            ),
            models.CheckConstraint(
                condition=models.Q(kind="maintenance") | models.Q(cluster__isnull=False),
                name="reservation_has_cluster",
            ),
        ]
        indexes = [
            models.Index(fields=["cluster", "kind"], name="reservation_by_cluster"),
            GistIndex(fields=["span"], name="reservation_span"),
        ]
