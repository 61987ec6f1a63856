"""Figures for Prometheus, counted when they are asked for: of what is open, never of all rows."""

from collections.abc import Iterable

import redis
from django.db.models import Count
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from accounts.models import MailMessage
from billing.models import Order, PaymentEvent
from clusters import states as cluster_states
from clusters.models import Cluster, Node
from core import heartbeat
from jobs import states as job_states
from jobs.models import Run


def exposition() -> bytes:
    """Return the figures in Prometheus' text format."""
    registry = CollectorRegistry()
    registry.register(Figures())
    return generate_latest(registry)


class Figures(Collector):
    """Asks the database with a few indexed queries."""

    def describe(self) -> Iterable[GaugeMetricFamily]:
        """Return nothing, so that registering asks no database."""
        return []

    def collect(self) -> Iterable[GaugeMetricFamily]:
        """Count."""
        yield _counts(
            "berth_runs_open",
            "Runs that have not ended, by status.",
            job_states.RUN_OPEN,
            Run.objects.filter(status__in=job_states.RUN_OPEN).values_list("status").annotate(n=Count("pk")),
        )
        open_clusters = ("held", "scheduled", *cluster_states.LIVE)
        yield _counts(
            "berth_clusters_open",
            "Clusters that have not ended, by status.",
            open_clusters,
            Cluster.objects.filter(status__in=open_clusters).values_list("status").annotate(n=Count("pk")),
        )
        yield _counts(
            "berth_nodes",
            "Nodes by state.",
            cluster_states.NODE.states,
            Node.objects.values_list("state").annotate(n=Count("pk")),
        )
        waiting = GaugeMetricFamily("berth_waiting", "Rows that wait for a worker.", labels=["what"])
        waiting.add_metric(["orders"], Order.objects.filter(status="pending").count())
        waiting.add_metric(["payment_events"], PaymentEvent.objects.filter(status="received").count())
        waiting.add_metric(["mail"], MailMessage.objects.filter(state="waiting").count())
        yield waiting
        silence = GaugeMetricFamily("berth_heartbeat_age_seconds", "Silence per process.", labels=["process"])
        for name in ("worker", "watcher", "collector", "embedded"):
            try:
                age = heartbeat.age(name)
            except redis.RedisError:
                continue
            if age is not None:
                silence.add_metric([name], age)
        yield silence


def _counts(
    name: str, text: str, states: Iterable[str], rows: Iterable[tuple[str, int]]
) -> GaugeMetricFamily:
    found = dict(rows)
    family = GaugeMetricFamily(name, text, labels=["status"])
    for state in states:
        family.add_metric([state], found.get(state, 0))
    return family
