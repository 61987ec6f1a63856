"""The pure part of availability against an oracle that tries everything."""

from datetime import UTC, datetime, timedelta
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from clusters import availability
from clusters.availability import NodeTimes
from core import calendar

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
LIMIT = 40


def at(hours: int) -> datetime:
    return EPOCH + hours * HOUR


@st.composite
def busy_spans(draw: st.DrawFn) -> list[availability.Span]:
    edges = sorted(draw(st.sets(st.integers(0, LIMIT), max_size=8)))
    spans: list[availability.Span] = [(at(a), at(b)) for a, b in zip(edges[::2], edges[1::2], strict=False)]
    if len(edges) % 2 and draw(st.booleans()):
        spans.append((at(edges[-1]), None))
    return draw(st.permutations(spans))


@st.composite
def fleets(draw: st.DrawFn) -> list[NodeTimes]:
    return [
        NodeTimes(f"n{i}", draw(st.sampled_from("ab")), draw(busy_spans()))
        for i in range(draw(st.integers(0, 6)))
    ]


def free_at(node: NodeTimes, start: datetime, end: datetime) -> bool:
    hours = [start + i * HOUR for i in range(int((end - start) / HOUR))]
    return not any(s <= h and (e is None or h < e) for h in hours for s, e in node.busy)


def fits(nodes: list[NodeTimes], count: int, start: datetime, end: datetime, spans: bool) -> bool:
    free = [n for n in nodes if free_at(n, start, end)]
    return any(spans or len({n.domain for n in group}) == 1 for group in combinations(free, count))


@given(fleets(), st.integers(1, 4), st.integers(1, 12), st.integers(0, 20), st.booleans())
def test_next_start_is_the_first_that_fits(
    nodes: list[NodeTimes], count: int, hours: int, after: int, spans: bool
) -> None:
    # All edges are whole hours, so the earliest start is one too; nothing happens after LIMIT.
    expected = next(
        (at(h) for h in range(after, LIMIT + 1) if fits(nodes, count, at(h), at(h + hours), spans)),
        None,
    )
    assert availability.next_start(nodes, count, hours * HOUR, at(after), spans=spans) == expected


@given(fleets(), st.integers(1, 4), st.integers(0, 30), st.integers(1, 12), st.booleans())
def test_chosen_nodes_are_free_and_found_whenever_they_exist(
    nodes: list[NodeTimes], count: int, start: int, hours: int, spans: bool
) -> None:
    begin, end = at(start), at(start + hours)
    chosen = availability.choose(nodes, count, begin, end, spans=spans)
    assert bool(chosen) == fits(nodes, count, begin, end, spans)
    if chosen:
        picked = [n for n in nodes if n.node in chosen]
        assert len(set(chosen)) == len(chosen) == count
        assert all(free_at(n, begin, end) for n in picked)
        domains = {n.domain for n in picked}
        whole = availability.count_by_domain(availability.candidates(nodes, begin, end))
        if len(domains) == 1:
            assert whole[domains.pop()] == min(size for size in whole.values() if size >= count)
        else:
            assert spans
            assert max(whole.values()) < count


@given(st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 9)), st.integers(1, 30))
def test_a_spanning_choice_lies_in_as_few_domains_as_possible(free: dict[str, int], count: int) -> None:
    chosen = availability.choose_domains(free, count, spans=True)
    fewest = next(
        (
            k
            for k in range(1, len(free) + 1)
            if any(sum(group) >= count for group in combinations(free.values(), k))
        ),
        0,
    )
    assert len(chosen) == fewest
    assert sum(n for _, n in chosen) == (count if fewest else 0)
    assert all(n <= free[domain] for domain, n in chosen)


def test_the_tightest_gap_is_filled_first() -> None:
    nodes = [
        NodeTimes("open", "a", []),
        NodeTimes("snug", "a", [(at(0), at(9)), (at(12), at(20))]),
        NodeTimes("loose", "a", [(at(0), at(5)), (at(18), at(20))]),
    ]
    assert availability.choose(nodes, 1, at(9), at(12)) == ["snug"]
    assert availability.choose(nodes, 2, at(9), at(12)) == ["snug", "loose"]


def test_the_smallest_domain_that_fits_keeps_the_large_one_whole() -> None:
    assert availability.choose_domains({"big": 16, "small": 4}, 3) == [("small", 3)]
    assert availability.choose_domains({"big": 16, "small": 4}, 5) == [("big", 5)]
    assert availability.choose_domains({"big": 16, "small": 4}, 17) == []
    assert availability.choose_domains({"big": 16, "small": 4}, 17, spans=True) == [("big", 16), ("small", 1)]


def test_half_open_spans_touch_without_overlap() -> None:
    node = NodeTimes("n", "a", [(at(5), at(10))])
    assert node.is_free(at(0), at(5))
    assert node.is_free(at(10), at(11))
    assert not node.is_free(at(9), at(11))
    assert availability.next_start([node], 1, 5 * HOUR, at(0)) == at(0)
    assert availability.next_start([node], 1, 6 * HOUR, at(0)) == at(10)


def test_spans_over_daylight_saving_and_leap_days_are_instants() -> None:
    """A lease over the spring gap of New York is 23 hours; the next may start right at its end."""
    zone = "America/New_York"
    start = calendar.resolve(datetime(2028, 3, 11, 12), zone)
    end = calendar.add_days(start, 1, zone)
    assert end - start == 23 * HOUR
    node = NodeTimes("n", "a", [(start, end)])
    assert availability.next_start([node], 1, HOUR, start) == end
    leap = calendar.resolve(datetime(2028, 2, 29), "Asia/Shanghai")
    year = calendar.add_months(leap, 12, "Asia/Shanghai")
    assert calendar.local(year, "Asia/Shanghai").day == 28
    busy = NodeTimes("n", "a", [(leap, year)])
    assert availability.next_start([busy], 1, HOUR, leap) == year


def test_a_large_fleet_is_swept_in_moments() -> None:
    """Not a measurement: quadratic code would need minutes here and hit the time limit of a test."""
    nodes = [
        NodeTimes(f"n{i}", f"d{i % 60}", [(at(k * 50 + i % 7), at(k * 50 + 45)) for k in range(10)])
        for i in range(2000)
    ]
    assert availability.next_start(nodes, 20, 100 * HOUR, at(3)) == at(9 * 50 + 45)
