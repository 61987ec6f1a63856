"""Gang admission: whole gangs only, strict order, overtaking that delays nobody, estimates that hold."""

import heapq
import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs import packing, queueing
from jobs.queueing import Estimate, Node, Queued, QueuePlan, Running

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def nodes(count: int = 2, gpus: int = 8) -> list[Node]:
    return [Node(f"n{place}", gpus) for place in range(count)]


def job(
    name: str, replicas: int = 1, gpus: int = 8, limit: int | None = 100, priority: int = 0, **more: Any
) -> Queued:
    return Queued(name, priority, more.pop("queued_at", NOW), replicas, gpus, limit, **more)


def run(name: str, node: str, gpus: int = 8, latest: float | None = 50, earliest: float = 0) -> Running:
    end = None if latest is None else at(latest)
    return Running(name, ((node, 1),), gpus, at(earliest), end)


def codes(plan: QueuePlan) -> dict[str, str]:
    return {item.id: item.reason.code for item in plan.waiting}


def started(plan: QueuePlan) -> list[str]:
    return [item.id for item in plan.admitted]


def test_priority_goes_before_age_and_age_before_id() -> None:
    queue = [job("c", queued_at=at(-5)), job("b"), job("a"), job("d", priority=1)]
    plan = queueing.plan(NOW, nodes(), [], queue)
    assert started(plan) == ["d", "c"]
    assert [(item.id, item.position) for item in plan.waiting] == [("a", 1), ("b", 2)]
    assert codes(plan) == {"a": "waits_for_gpus", "b": "behind_one"}
    assert str(plan.waiting[0].reason) == "Needs 8 GPUs; 0 are free now."


def test_a_gang_starts_whole_or_not_at_all() -> None:
    plan = queueing.plan(NOW, nodes(2), [run("r", "n0", gpus=1)], [job("a", replicas=2)])
    assert started(plan) == []
    assert codes(plan) == {"a": "waits_for_gpus"}
    plan = queueing.plan(NOW, nodes(3), [run("r", "n0", gpus=1)], [job("a", replicas=2)])
    assert plan.admitted[0].placement == (("n1", 1), ("n2", 1))


def test_free_gpus_in_crumbs_are_named_as_such() -> None:
    held = [run("r", "n0", gpus=5), run("s", "n1", gpus=5)]
    plan = queueing.plan(NOW, nodes(2), held, [job("a", replicas=1, gpus=4)])
    assert codes(plan) == {"a": "waits_for_nodes"}
    assert "room for 0 of 1 replicas" in str(plan.waiting[0].reason)


def test_a_gang_sits_close_together_and_leaves_whole_nodes() -> None:
    held = [run("r", "n0", gpus=4), run("s", "n1", gpus=6)]
    plan = queueing.plan(NOW, nodes(4), held, [job("a", replicas=4, gpus=1), job("b", replicas=2, gpus=8)])
    assert [item.placement for item in plan.admitted] == [(("n0", 4),), (("n2", 1), ("n3", 1))]


@pytest.mark.parametrize(
    ("limit", "expected"),
    [(50, None), (51, "kept_for_head"), (None, "no_backfill_without_limit")],
)
def test_overtaking_must_end_before_the_head_starts(limit: int | None, expected: str | None) -> None:
    queue = [job("head", replicas=2, priority=1), job("small", limit=limit)]
    plan = queueing.plan(NOW, nodes(2), [run("r", "n0", latest=50)], queue)
    assert codes(plan).get("small") == expected
    assert started(plan) == ([] if expected else ["small"])


def test_nobody_overtakes_a_head_whose_start_is_unknown() -> None:
    queue = [job("head", replicas=2, priority=1), job("small", limit=1)]
    plan = queueing.plan(NOW, nodes(2), [run("r", "n0", latest=None)], queue)
    assert started(plan) == []
    assert [item.estimate for item in plan.waiting] == [None, None]


def test_a_job_that_never_fits_holds_nobody_up() -> None:
    plan = queueing.plan(NOW, nodes(2), [], [job("big", replicas=3, priority=1), job("small")])
    assert started(plan) == ["small"]
    assert codes(plan) == {"big": "too_large"}
    assert plan.waiting[0].estimate is None


def test_a_retry_that_is_not_due_holds_nobody_up() -> None:
    queue = [job("later", replicas=2, priority=1, not_before=at(30)), job("small")]
    plan = queueing.plan(NOW, nodes(2), [], queue)
    assert started(plan) == ["small"]
    assert codes(plan) == {"later": "not_yet"}
    assert plan.waiting[0].estimate == Estimate(at(30), at(100))


def test_estimates_are_a_range_by_what_runs() -> None:
    held = [run("r", "n0", earliest=20, latest=50), run("s", "n1", earliest=10, latest=70)]
    queue = [job("a", replicas=2, priority=1), job("b"), job("c", limit=None), job("d")]
    plan = queueing.plan(NOW, nodes(2), held, queue)
    assert [item.estimate for item in plan.waiting] == [
        Estimate(at(20), at(70)),
        Estimate(at(10), at(170)),
        Estimate(at(20), at(170)),
        Estimate(at(10), at(270)),
    ]
    plan = queueing.plan(NOW, nodes(1), held[:1], [job("c", limit=None), job("d")])
    assert [item.estimate for item in plan.waiting] == [Estimate(at(20), at(50)), None]


QUEUES = st.lists(
    st.builds(
        Queued,
        id=st.uuids().map(str),
        priority=st.integers(-1, 1),
        queued_at=st.integers(-100, 0).map(at),
        replicas=st.integers(1, 6),
        gpus_per_replica=st.integers(1, 8),
        limit_seconds=st.none() | st.integers(1, 100),
        not_before=st.none() | st.integers(-10, 10).map(at),
    ),
    max_size=12,
)
HELD = st.lists(
    st.builds(
        Running,
        id=st.uuids().map(str),
        placement=st.sampled_from([(("n0", 1),), (("n1", 1), ("n2", 1)), (("gone", 1),)]),
        gpus_per_replica=st.integers(1, 4),
        earliest=st.none() | st.integers(-10, 40).map(at),
        latest=st.none() | st.integers(40, 90).map(at),
    ),
    max_size=4,
)


@given(queue=QUEUES, held=HELD, count=st.integers(0, 4))
def test_every_plan_is_sound(queue: list[Queued], held: list[Running], count: int) -> None:
    servers = nodes(count)
    plan = queueing.plan(NOW, servers, held, queue)
    assert plan == queueing.plan(NOW, servers, held, reversed(queue))
    assert sorted(started(plan) + [item.id for item in plan.waiting]) == sorted(item.id for item in queue)
    assert [item.position for item in plan.waiting] == list(range(1, len(plan.waiting) + 1))
    by_id = {item.id: item for item in queue}
    rooms = packing.free(((node.name, node.gpus) for node in servers), held)
    before = dict(rooms)
    for admission in plan.admitted:
        item = by_id[admission.id]
        assert sum(replicas for _, replicas in admission.placement) == item.replicas
        assert not item.waits(NOW)
        packing.take(rooms, admission.placement, item.gpus_per_replica)
    assert all(rooms[name] >= min(0, before[name]) for name in rooms)
    blocked = [item for item in plan.waiting if item.reason.code in ("waits_for_gpus", "waits_for_nodes")]
    assert len(blocked) <= 1
    for item in plan.waiting:
        assert str(item.reason)
        if item.estimate:
            assert NOW <= item.estimate.earliest <= item.estimate.latest


@given(rooms=st.dictionaries(st.text(max_size=3), st.integers(-2, 8), max_size=6), data=st.data())
def test_placing_agrees_with_counting(rooms: dict[str, int], data: st.DataObject) -> None:
    replicas, size = data.draw(st.integers(1, 20)), data.draw(st.integers(1, 8))
    placement = packing.place(rooms, replicas, size)
    assert (placement is not None) == (packing.room(rooms, size) >= replicas)
    for name, count in placement or ():
        assert 0 < count * size <= rooms[name]


def simulate(seed: int, count: int = 150) -> tuple[int, int, int]:
    """Play a queue in which jobs take 5 to 100 % of their limits; return (told, right, all that waited)."""
    dice = random.Random(seed)
    servers = nodes(4)
    clock, told, waited, actual = 0.0, {}, set(), {}
    arrivals = []
    for place in range(count):
        clock += dice.expovariate(1 / 400)
        replicas, gpus = dice.choice([(1, 1), (1, 4), (1, 8), (2, 8), (4, 8), (8, 1)])
        limit, priority = dice.randint(600, 7200), dice.choices([-1, 0, 1], [1, 8, 1])[0]
        arrivals.append((clock, Queued(f"{place:04}", priority, at(clock), replicas, gpus, limit)))
    queue: list[Queued] = []
    held: dict[str, Running] = {}
    events = [(moment, item.id, item) for moment, item in arrivals]
    heapq.heapify(events)
    while events:
        moment, name, item = heapq.heappop(events)
        if name in held:
            del held[name]
        else:
            queue.append(item)
        plan = queueing.plan(at(moment), servers, held.values(), queue)
        for waiting in plan.waiting:
            if waiting.id not in waited:
                waited.add(waiting.id)
                told[waiting.id] = waiting.estimate
        by_id = {one.id: one for one in queue}
        for admission in plan.admitted:
            one = by_id[admission.id]
            assert one.limit_seconds is not None
            actual[one.id] = at(moment)
            held[one.id] = Running(
                one.id, admission.placement, one.gpus_per_replica, None, at(moment + one.limit_seconds)
            )
            lasts = one.limit_seconds * dice.uniform(0.05, 1)
            heapq.heappush(events, (moment + lasts, one.id, one))
        queue = [one for one in queue if one.id not in actual]
    assert not queue
    given_ones = {name: estimate for name, estimate in told.items() if estimate is not None}
    right = sum(one.earliest <= actual[name] <= one.latest for name, one in given_ones.items())
    return len(given_ones), right, len(waited)


@pytest.mark.parametrize("seed", range(4))
def test_estimates_are_given_and_right_on_simulated_queues(seed: int) -> None:
    told, right, waited = simulate(seed)
    assert waited > 30
    assert told >= 0.9 * waited
    assert right >= 0.8 * told
