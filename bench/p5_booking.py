"""P5: availability and booking by 16 rivals, against the bare INSERT of the same reservation rows."""

import multiprocessing
import os
import random
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")

from tests.support import services

NODES, RESERVATIONS, RIVALS, DOMAIN = 2000, 20_000, 16, 32
ROUNDS, PER_ROUND = 4, 40  # booking and bare INSERT take turns, so that both see the same machine
START = datetime(2026, 1, 1, tzinfo=UTC)
SPREAD_DAYS = 400

FILL = """
INSERT INTO clusters_reservation (id, node_id, cluster_id, kind, span, created_at)
SELECT 'rsv_' || left(md5(n.id || '.' || k), 26), n.id, NULL, 'maintenance',
       tstzrange(s.start, s.start + interval '20 days'), %s
FROM clusters_node n, generate_series(0, %s - 1) k,
     LATERAL (SELECT %s::timestamptz + k * interval '40 days' + abs(hashtext(n.id)) %% 960
              * interval '1 hour' AS start) s
"""
INSERT = """
INSERT INTO clusters_reservation (id, node_id, cluster_id, kind, span, created_at)
SELECT r.id, r.node, %s, r.kind, tstzrange(r.start, r.until), %s
FROM unnest(%s::text[], %s::text[], %s::text[], %s::timestamptz[], %s::timestamptz[])
     AS r(id, node, kind, start, until)
"""
OVERLAPS = """
SELECT count(*) FROM clusters_reservation a JOIN clusters_reservation b
ON a.node_id = b.node_id AND a.id < b.id AND a.span && b.span
"""


def fill() -> tuple[Any, Any, Any]:
    """Make the fleet and return its site, type and a customer."""
    from django.db import connection

    from tests.support import fleet

    at, of = fleet.site(), fleet.node_type()
    for domain in range(-(-NODES // DOMAIN)):
        fleet.nodes(at, of, min(DOMAIN, NODES - domain * DOMAIN), domain=f"d{domain}")
    with connection.cursor() as cursor:
        cursor.execute(FILL, [START, RESERVATIONS // NODES, START])
    return at, of, fleet.organisation()


def book(rival: int, seed: int, at: Any, of: Any, customer: Any) -> int:
    """Ask and book like a customer; return how many bookings stand."""
    from django.db import transaction

    from clusters.services import bookings, catalogue

    chance, held = random.Random(f"{seed}.{rival}"), 0
    for _ in range(PER_ROUND):
        begin = START + timedelta(hours=chance.randrange(SPREAD_DAYS * 24))
        end = begin + timedelta(hours=chance.randrange(24, 240))
        count = chance.choice([1, 2, 4, 8])
        catalogue.available(site=at, node_type=of, nodes=count, starts_at=begin, ends_at=end)
        try:
            with transaction.atomic():
                bookings.hold(
                    organisation=customer,
                    site=at,
                    node_type=of,
                    nodes=count,
                    starts_at=begin,
                    ends_at=end,
                    anchor_day=1,
                    hold_until=START,
                    name="bench",
                    created_by=None,
                    now=START,
                )
            held += 1
        except bookings.SoldOut:
            pass
    return held


def insert(rival: int, groups: list[list[Any]]) -> int:
    """Insert this rival's share of the same rows, one transaction for each booking."""
    from django.db import connection, transaction

    mine = groups[rival::RIVALS]
    for cluster, *columns in mine:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(INSERT, [cluster, START, *columns])
    return len(mine)


def race(work: Callable[..., int], *args: Any) -> tuple[float, int]:
    """Run 16 processes at once; return the seconds and what they did in sum."""
    from django.db import connections

    connections.close_all()
    context = multiprocessing.get_context("fork")
    barrier, done = context.Barrier(RIVALS + 1), context.Queue()

    def run(rival: int) -> None:
        connections["default"].ensure_connection()
        barrier.wait()
        done.put(work(rival, *args))

    rivals = [context.Process(target=run, args=[rival]) for rival in range(RIVALS)]
    for rival in rivals:
        rival.start()
    barrier.wait()
    begun = time.perf_counter()
    total = sum(done.get() for _ in rivals)
    seconds = time.perf_counter() - begun
    for rival in rivals:
        rival.join()
    return seconds, total


def groups_of_bookings(seen: set[str]) -> list[list[Any]]:
    """Return the columns of the rows of each booking but those seen before, in the order of booking."""
    from clusters.models import Reservation

    found: dict[str, list[tuple[Any, ...]]] = {}
    for r in Reservation.objects.filter(cluster__isnull=False).exclude(cluster__in=seen).order_by("id"):
        found.setdefault(r.cluster_id, []).append((r.pk, r.node_id, r.kind, r.span.lower, r.span.upper))
    return [[cluster, *(list(c) for c in zip(*rows, strict=True))] for cluster, rows in found.items()]


def main() -> None:
    """Print one line."""
    import django

    django.setup()
    from django.db import connection
    from django.test.utils import setup_databases, teardown_databases

    from clusters.models import Reservation

    databases = setup_databases(verbosity=0, interactive=False, serialized_aliases=[])
    try:
        stock = fill()
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")
        seconds = bare_seconds = 0.0
        held = rows = 0
        seen: set[str] = set()
        for turn in range(ROUNDS):
            took, stand = race(book, turn, *stock)
            seconds, held = seconds + took, held + stand
            groups = groups_of_bookings(seen)
            seen.update(group[0] for group in groups)
            rows += Reservation.objects.filter(cluster__in=[group[0] for group in groups]).delete()[0]
            bare_seconds += race(insert, groups)[0]
        with connection.cursor() as cursor:
            cursor.execute(OVERLAPS)
            oversold = cursor.fetchone()[0]
        tried, ratio = RIVALS * PER_ROUND * ROUNDS, bare_seconds / seconds
        print(
            f"P5 {ratio:.2f} {held} of {tried} bookings in {seconds:.1f} s ({held / seconds:.0f}/s) "
            f"against bare INSERTs of their {rows} rows in {bare_seconds:.1f} s; "
            f"{NODES} nodes, {RESERVATIONS} reservations, {RIVALS} rivals; oversold: {oversold}"
        )
    finally:
        teardown_databases(databases, verbosity=0)


if __name__ == "__main__":
    services.start()
    try:
        main()
    finally:
        services.stop()
