"""Which nodes are free when: pure functions of plain values. Times are aware, spans half-open.

A span to book already holds the turnaround after it; who reserves adds it, nobody here does.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby

Span = tuple[datetime, datetime | None]  # no end: taken until further notice
FAR = timedelta(days=10_000)  # stands for a neighbour that does not exist


@dataclass(frozen=True, slots=True)
class NodeTimes:
    """One node: its id, its fabric domain, and when it is taken (any order, no overlaps)."""

    node: str
    domain: str
    busy: Sequence[Span]

    def is_free(self, start: datetime, end: datetime) -> bool:
        """Say whether nothing is booked in ``[start, end)``."""
        return all(
            taken_start >= end or (taken_end is not None and taken_end <= start)
            for taken_start, taken_end in self.busy
        )


@dataclass(frozen=True, slots=True)
class Candidate:
    """A free node with the idle time that a booking would leave before and after itself."""

    node: str
    domain: str
    gap_before: timedelta
    gap_after: timedelta


def candidates(nodes: Iterable[NodeTimes], start: datetime, end: datetime) -> list[Candidate]:
    """Return the nodes that are free for the whole span, with the gaps to their neighbours."""
    found = []
    for node in nodes:
        if node.is_free(start, end):
            before = max((e for _, e in node.busy if e is not None and e <= start), default=None)
            after = min((s for s, _ in node.busy if s >= end), default=None)
            found.append(
                Candidate(
                    node.node,
                    node.domain,
                    FAR if before is None else start - before,
                    FAR if after is None else after - end,
                )
            )
    return found


def choose_domains(free: Mapping[str, int], count: int, *, spans: bool = False) -> list[tuple[str, int]]:
    """Return (domain, nodes to take there) for ``count`` nodes, or nothing when they do not fit.

    The smallest domain that fits wins, so that large ones stay whole for large clusters. Only a type that
    may span takes several, the fullest first, so that it lies in as few as possible.
    """
    fitting = [(size, domain) for domain, size in free.items() if size >= count]
    if fitting:
        return [(min(fitting)[1], count)]
    if not spans or sum(free.values()) < count:
        return []
    taken, left = [], count
    for domain, size in sorted(free.items(), key=lambda item: (-item[1], item[0])):
        part = min(size, left)
        if part:
            taken.append((domain, part))
        left -= part
    return taken


def tightest(free: Iterable[Candidate], domains: Iterable[tuple[str, int]]) -> list[str]:
    """Return the nodes of each domain whose neighbouring gaps are smallest: the least time is wasted."""
    by_domain: dict[str, list[Candidate]] = {}
    for candidate in free:
        by_domain.setdefault(candidate.domain, []).append(candidate)
    chosen = []
    for domain, count in domains:
        ranked = sorted(by_domain.get(domain, ()), key=_waste)
        chosen += [candidate.node for candidate in ranked[:count]]
    return chosen


def _waste(candidate: Candidate) -> tuple[timedelta, timedelta, str]:
    nearer, farther = sorted((candidate.gap_before, candidate.gap_after))
    return nearer, farther, candidate.node


def choose(
    nodes: Iterable[NodeTimes], count: int, start: datetime, end: datetime, *, spans: bool = False
) -> list[str]:
    """Return ``count`` nodes for the span, or nothing when they do not fit."""
    free = candidates(nodes, start, end)
    return tightest(free, choose_domains(count_by_domain(free), count, spans=spans))


def count_by_domain(free: Iterable[Candidate]) -> dict[str, int]:
    """Return how many free nodes each domain has."""
    counts: dict[str, int] = {}
    for candidate in free:
        counts[candidate.domain] = counts.get(candidate.domain, 0) + 1
    return counts


def next_start(
    nodes: Iterable[NodeTimes],
    count: int,
    duration: timedelta,
    not_before: datetime,
    *,
    spans: bool = False,
) -> datetime | None:
    """Return the earliest start at which ``count`` nodes of one domain are free for that long.

    Never before ``not_before``; None when the pool is too small at any time. O(R log R) for R reservations.
    """
    idle = ((node.domain, *gap) for node in nodes for gap in gaps(node.busy, duration, not_before))
    return first_start(idle, count, duration, spans=spans)


def gaps(busy: Sequence[Span], duration: timedelta, not_before: datetime) -> Iterable[Span]:
    """Yield the idle times of a node from ``not_before`` on that are long enough; the last may be endless."""
    free_from = not_before
    for taken_start, taken_end in sorted(busy, key=lambda span: span[0]):
        if taken_end is not None and taken_end <= free_from:
            continue
        if free_from + duration <= taken_start:
            yield free_from, taken_start
        if taken_end is None:
            return
        free_from = taken_end
    yield free_from, None


def first_start(
    idle: Iterable[tuple[str, datetime, datetime | None]],
    count: int,
    duration: timedelta,
    *,
    spans: bool = False,
) -> datetime | None:
    """Return the earliest start in (domain, from, until) gaps of nodes, each at least ``duration`` long.

    In a gap a booking may start until ``duration`` before its end; sweeping over these windows
    of a domain finds the first instant that enough of them share.
    """
    steps: dict[str, list[tuple[datetime, int]]] = {}
    for domain, start, end in idle:
        of_domain = steps.setdefault("" if spans else domain, [])
        of_domain.append((start, 1))
        if end is not None:
            of_domain.append((end - duration, -1))
    found = (_first_shared(of_domain, count) for of_domain in steps.values())
    return min((start for start in found if start is not None), default=None)


def _first_shared(steps: list[tuple[datetime, int]], count: int) -> datetime | None:
    """Return the first instant that ``count`` closed windows share; a window holds its last one."""
    steps.sort(key=lambda step: (step[0], -step[1]))  # openings first: both ends belong to a window
    open_now = 0
    instant: datetime
    for instant, group in groupby(steps, key=lambda step: step[0]):
        closing = 0
        for _, change in group:
            if change > 0:
                open_now += 1
            else:
                closing += 1
        if open_now >= count:
            return instant
        open_now -= closing
    return None
