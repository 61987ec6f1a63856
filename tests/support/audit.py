"""Prints what stands in a portal after its flows: run with the portal's own settings, beside the portal.

`python -m tests.support.audit <order>…` prints one JSON object; the tests say what must stand in it.
"""

import json
import os
import sys
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import django


def main(order_ids: list[str]) -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "portal.settings"
    django.setup()
    from billing.models import Order

    facts: dict[str, Any] = {
        "orders": [_order(order) for order in Order.objects.filter(pk__in=order_ids).order_by("pk")],
        "money": _money(),
        "waiting": _waiting(),
    }
    print(json.dumps(facts))


def _order(order: Any) -> dict[str, Any]:
    from accounts.models import AuditEntry, Notification
    from clusters.services import ports

    cluster = order.cluster
    reservations = Counter(cluster.reservations.values_list("kind", flat=True))
    nodes = cluster.reservations.filter(kind="cluster").values_list("node", flat=True)
    owned = [node.name for node in ports.port(cluster.site).list_nodes() if node.owner == cluster.object_name]
    links = [f"/orders/{order.pk}", f"/clusters/{cluster.pk}"]
    links += [f"/jobs/{job}" for job in cluster.jobs.values_list("pk", flat=True)]
    told = Notification.objects.filter(link__in=links).exclude(kind="cluster.late")
    return {
        "status": order.status,
        "cluster": [cluster.status, cluster.gpus_used, cluster.claim_token],
        "cluster_events": list(cluster.events.order_by("pk").values_list("kind", flat=True)),
        "reservations": dict(reservations),
        "nodes": [len(nodes), len(set(nodes)), len(owned)],
        "payments": list(order.payments.values_list("status", flat=True)),
        "invoice": [order.invoice.status, order.invoice.total - order.total],
        "audit": sorted(AuditEntry.objects.filter(target=order.pk).values_list("action", flat=True)),
        "told": sorted(told.values_list("kind", flat=True)),
        "jobs": [_job(job) for job in cluster.jobs.order_by("pk")],
    }


def _job(job: Any) -> dict[str, Any]:
    events = job.events.order_by("pk").values_list("run__number", "kind")
    return {
        "status": job.status,
        "events_twice": _twice(events),
        "runs": [_run(run) for run in job.runs.order_by("number")],
    }


def _run(run: Any) -> dict[str, Any]:
    from clusters.services import ports

    port = ports.port(run.cluster.site)
    with port.store.read() as site:
        changes = site.changes(0, kind="PyTorchJob", limit=1_000_000)
        pods = site.changes(0, kind="Pod", limit=1_000_000)
    names = {one.name: set() for one in pods if one.name.startswith(f"{run.object_name}-")}
    for one in pods:
        if one.name in names:
            names[one.name].add(one.body["metadata"]["uid"])
    return {
        "number": run.number,
        "status": run.status,
        "cause": run.cause,
        "collected": run.collected,
        "holds": run.holds,
        "due": run.due_at is not None,
        "objects": len({one.body["metadata"]["uid"] for one in changes if one.name == run.object_name}),
        "objects_left": [
            name for _, name in port.list_objects(run.cluster.object_name) if run.object_name in name
        ],
        "pods": {name.removeprefix(f"{run.object_name}-"): len(uids) for name, uids in names.items()},
        "logs": {stream.replica: _log_fault(port, run, stream) for stream in run.streams.order_by("replica")},
        "hours": sum(run.hours.values_list("gpu_seconds", flat=True)) - run.gpu_seconds,
        "checkpoints": sorted(run.checkpoints.filter(complete=True).values_list("step", flat=True)),
        "losses": sorted(run.points.filter(name="loss").values_list("step", flat=True)),
    }


def _log_fault(port: Any, run: Any, stream: Any) -> str:
    """Compare what we keep with what the pod wrote, line by line; "" when it is the same."""
    from jobs.services import logs

    wrote, cursor = [], None
    while True:
        chunk = port.read_log(
            run.cluster.object_name,
            f"{run.object_name}-{stream.replica}",
            cursor=cursor,
            limit_bytes=1 << 20,
        )
        wrote += [line.text for line in chunk.lines]
        cursor = chunk.cursor
        if chunk.eof or not chunk.lines:
            break
    kept = logs.read(run, after=None, limit=1_000_000, replica=stream.replica).lines
    numbers = [line.n for line in kept]
    if numbers != list(range(1, len(kept) + 1)):
        jumps = [pair for pair in pairwise(numbers) if pair[1] - pair[0] != 1]
        return f"numbers are not 1 to {len(kept)}: {jumps}"
    if not wrote:
        return "the pod wrote nothing"
    if [line.text for line in kept] != wrote:
        return f"{len(kept)} lines kept, {len(wrote)} written"
    return "" if stream.lines == len(wrote) and stream.complete else "the stream does not say so"


def _money() -> dict[str, Any]:
    from django.db.models import Count, F, Sum

    from billing.models import Invoice, InvoiceSeries, LedgerEntry, LedgerPosting, Payment, Refund

    series = InvoiceSeries.objects.values_list("series", "year", "last")
    numbers = {
        f"{name}-{year}": list(
            Invoice.objects.filter(series=name, year=year)
            .order_by("sequence")
            .values_list("sequence", flat=True)
        )
        for name, year, _ in series
    }
    unbalanced = LedgerPosting.objects.values("entry").annotate(sum=Sum("amount")).exclude(sum=0)
    lines = Invoice.objects.annotate(sum=Sum("lines__amount")).exclude(sum=F("total"))
    paid = Payment.objects.filter(status="succeeded")
    cash = LedgerPosting.objects.filter(account="cash").aggregate(sum=Sum("amount"))["sum"] or 0
    return {
        "gaps": {key: found for key, found in numbers.items() if found != list(range(1, len(found) + 1))},
        "numbers_lost": [one for one in series if one[2] != len(numbers[f"{one[0]}-{one[1]}"])],
        "unbalanced": unbalanced.count(),
        "entries_twice": _twice(LedgerEntry.objects.values_list("kind", "source")),
        "invoices_that_do_not_add_up": lines.count(),
        "cash_unexplained": cash - (paid.aggregate(sum=Sum("amount"))["sum"] or 0),
        "orders_paid_twice": paid.values("order").annotate(n=Count("id")).filter(n__gt=1).count(),
        "refunds": Refund.objects.count(),
    }


def _waiting() -> dict[str, int]:
    """Count what has not come to rest; the last hint may still be on its way."""
    from billing.models import Order, Payment
    from jobs.models import Run

    ended = Run.objects.filter(status__in=("succeeded", "failed", "cancelled", "suspended"))
    return {
        "orders": Order.objects.filter(due_at__isnull=False, status__in=("pending", "paid")).count(),
        "payments": Payment.objects.filter(due_at__isnull=False).count(),
        "runs": ended.filter(due_at__isnull=False).count() + Run.objects.filter(holds=True).count(),
    }


def _twice(rows: Iterable[Any]) -> list[Any]:
    return [one for one, count in Counter(map(tuple, rows)).items() if count > 1]


if __name__ == "__main__":
    main(sys.argv[1:])
