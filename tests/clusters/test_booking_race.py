"""Rivals for the same nodes: nothing is oversold, and without lock and constraint it would be."""

import random
import threading
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.db import OperationalError, connection, transaction

from clusters.models import Node, Reservation
from clusters.services import bookings, pool
from tests.support import fleet
from tests.support.fleet import DAY, NOW

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(1500)]

RIVALS = 16
OVERLAPS = """
SELECT count(*) FROM clusters_reservation a JOIN clusters_reservation b
ON a.node_id = b.node_id AND a.id < b.id AND a.span && b.span
"""


@pytest.fixture
def without_constraint() -> Iterator[None]:
    constraint = next(c for c in Reservation._meta.constraints if c.name == "reservation_no_overlap")
    with connection.schema_editor() as editor:
        editor.remove_constraint(Reservation, constraint)
    yield
    Reservation.objects.all().delete()
    with connection.schema_editor() as editor:
        editor.add_constraint(Reservation, constraint)


def overlaps() -> int:
    with connection.cursor() as cursor:
        cursor.execute(OVERLAPS)
        return int(cursor.fetchone()[0])


def analyze() -> None:
    """Tell the planner how full the tables are, as autovacuum does outside tests."""
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE clusters_reservation, clusters_node")


def compete(attempts: int, nodes: int, *, days: int) -> Counter[str]:
    """Let 16 rivals book random numbers of nodes for random spans; return what became of the attempts."""
    at, of = fleet.site(), fleet.node_type()
    for domain in range(max(1, nodes // 20)):
        fleet.nodes(at, of, min(20, nodes), domain=f"d{domain}")
    customer = fleet.organisation()
    results: list[str] = []
    start = threading.Barrier(RIVALS)

    def rival(number: int) -> None:
        chance = random.Random(number)
        try:
            start.wait(30)
            for turn in range(attempts // RIVALS):
                if number == 0 and turn % 50 == 49:
                    analyze()
                begin = NOW + timedelta(hours=chance.randrange(24 * days))
                end = begin + timedelta(hours=chance.randrange(6, 240))
                count = chance.choice([1, 1, 2, 4, 8])
                try:
                    with transaction.atomic():
                        fleet.hold(at, of, number=count, start=begin, end=end, organisation=customer)
                    results.append("held")
                except bookings.SoldOut:
                    results.append("sold out")
                except OperationalError as error:  # without the lock, rivals may wait for one another
                    results.append("deadlock" if "deadlock" in str(error) else str(error))
        finally:
            connection.close()

    threads = [threading.Thread(target=rival, args=[number]) for number in range(RIVALS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == attempts // RIVALS * RIVALS
    assert set(results) <= {"held", "sold out", "deadlock"}
    return Counter(results)


@pytest.mark.parametrize(
    "attempts, nodes, days", [(800, 40, 20), pytest.param(10_000, 500, 60, marks=pytest.mark.faults)]
)
def test_nothing_is_oversold(attempts: int, nodes: int, days: int) -> None:
    results = compete(attempts, nodes, days=days)
    assert results["held"] > attempts / 20
    assert results["sold out"] > attempts / 20
    assert results["deadlock"] == 0
    assert overlaps() == 0
    assert Node.objects.count() == nodes


def test_the_constraint_alone_is_the_last_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "lock", lambda *args: None)
    assert compete(160, 20, days=10)["held"]
    assert overlaps() == 0


@pytest.mark.usefixtures("without_constraint")
def test_control_without_either_nodes_are_sold_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "lock", lambda *args: None)
    assert compete(240, 20, days=10)["held"]
    assert overlaps() > 0


def test_two_buyers_of_the_last_node() -> None:
    at, of = fleet.pool(1)
    results: list[str] = []
    start = threading.Barrier(2)

    def buy() -> None:
        try:
            start.wait(10)
            with transaction.atomic():
                fleet.hold(at, of)
            results.append("held")
        except bookings.SoldOut as error:
            results.append(str(error.next_start))
        finally:
            connection.close()

    threads = [threading.Thread(target=buy) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [str(NOW + DAY + timedelta(minutes=30)), "held"]
