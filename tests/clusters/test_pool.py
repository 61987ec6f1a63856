"""What SQL says about a pool against the pure functions on the same rows."""

import random
from datetime import timedelta

import pytest

from clusters import availability
from clusters.models import Node, NodeType, Site
from clusters.services import pool
from tests.support import fleet
from tests.support.fleet import NOW

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


def fill(chance: random.Random) -> tuple[Site, NodeType]:
    at, of = fleet.site(), fleet.node_type(spans_domains=chance.random() < 0.3)
    for domain in "ab":
        fleet.nodes(at, of, chance.randrange(4), domain=domain)
    fleet.nodes(at, of, 2, domain="c", state="cordoned")
    for node in Node.objects.filter(site=at):
        edge = NOW - chance.randrange(10) * HOUR
        for _ in range(chance.randrange(5)):
            start = edge + chance.randrange(6) * HOUR
            edge = start + chance.randrange(1, 12) * HOUR
            fleet.reserve(node, start, edge)
        if chance.random() < 0.15:
            fleet.reserve(node, edge + HOUR, None)
    return at, of


def times(at: Site) -> list[availability.NodeTimes]:
    return [
        availability.NodeTimes(
            node.pk, node.fabric_domain, [(r.span.lower, r.span.upper) for r in node.reservations.all()]
        )
        for node in Node.objects.filter(site=at, state="available").prefetch_related("reservations")
    ]


@pytest.mark.parametrize("seed", range(12))
def test_sql_and_the_pure_functions_agree(seed: int) -> None:
    chance = random.Random(seed)
    at, of = fill(chance)
    nodes = times(at)
    for _ in range(8):
        start = NOW + chance.randrange(30) * HOUR
        length = chance.randrange(1, 20) * HOUR
        count = chance.randrange(1, 5)
        free = availability.candidates(nodes, start, start + length)
        counts = pool.free_by_domain(at, of, start, start + length)
        assert counts == availability.count_by_domain(free)
        found = pool.candidates(at, of, ["a", "b", "c"], start, start + length)
        assert sorted(found, key=lambda c: c.node) == sorted(free, key=lambda c: c.node)
        smallest = pool.smallest_domain(at, of, count, start, start + length)
        domains = availability.choose_domains(counts, count)
        assert {c.node for c in smallest} == {c.node for c in free if [c.domain] == [d for d, _ in domains]}
        assert all(c in free for c in smallest)
        assert pool.next_start(at, of, count, length, start) == availability.next_start(
            nodes, count, length, start, spans=of.spans_domains
        )
