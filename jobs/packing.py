"""Gangs on nodes: how many replicas find room, where they go, and what ending runs give back."""

import heapq
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Protocol

Placement = tuple[tuple[str, int], ...]
"""Replicas per node: ``(("node-1", 2), ("node-2", 1))``."""


class Holder(Protocol):
    """Anything that holds GPUs on nodes."""

    @property
    def placement(self) -> Placement: ...

    @property
    def gpus_per_replica(self) -> int: ...


def free(nodes: Iterable[tuple[str, int]], holders: Iterable[Holder]) -> dict[str, int]:
    """Return the free GPUs per node; what holders have on nodes that are not listed is nobody's loss."""
    rooms = dict(nodes)
    for holder in holders:
        for name, count in holder.placement:
            if name in rooms:
                rooms[name] -= count * holder.gpus_per_replica
    return rooms


def room(rooms: Mapping[str, int], gpus_per_replica: int) -> int:
    """Return how many replicas find room: Σ ⌊free / gpus_per_replica⌋; an overbooked node counts as full."""
    return sum(max(0, left) // gpus_per_replica for left in rooms.values())


def place(rooms: Mapping[str, int], replicas: int, gpus_per_replica: int) -> Placement | None:
    """Return where a gang goes, None if it does not fit as a whole.

    On one node if one can take it, the fullest such; else on as few nodes as possible, the rest on the
    fullest that takes it. So whole nodes stay free for those who need them.
    """
    if room(rooms, gpus_per_replica) < replicas:
        return None
    counts = {name: left // gpus_per_replica for name, left in rooms.items() if left >= gpus_per_replica}
    chosen: dict[str, int] = {}
    missing = replicas
    while missing:
        enough = [name for name, count in counts.items() if count >= missing]
        if enough:
            name = min(enough, key=lambda one: (rooms[one], one))
        else:
            name = min(counts, key=lambda one: (-counts[one], rooms[one], one))
        chosen[name] = min(counts.pop(name), missing)
        missing -= chosen[name]
    return tuple(sorted(chosen.items()))


def take(rooms: dict[str, int], placement: Placement, gpus_per_replica: int) -> None:
    """Take the GPUs of a gang out of the free ones."""
    for name, count in placement:
        rooms[name] -= count * gpus_per_replica


class Room:
    """The answers of :func:`room` for one state of the nodes, each counted once."""

    def __init__(self, rooms: Mapping[str, int]) -> None:
        self._rooms = dict(rooms)
        self._known: dict[int, int] = {}

    def of(self, gpus_per_replica: int) -> int:
        """Return how many replicas of this size find room."""
        if gpus_per_replica not in self._known:
            self._known[gpus_per_replica] = room(self._rooms, gpus_per_replica)
        return self._known[gpus_per_replica]


class Ends:
    """Runs in the order in which they end; each gives its GPUs back once."""

    def __init__(self, runs: Iterable[tuple[datetime, Placement, int]]) -> None:
        self._heap = [(end, place, gang, size) for place, (end, gang, size) in enumerate(runs)]
        self._next = len(self._heap)
        heapq.heapify(self._heap)

    def add(self, end: datetime, placement: Placement, gpus_per_replica: int) -> None:
        """Add a run that ends later."""
        heapq.heappush(self._heap, (end, self._next, placement, gpus_per_replica))
        self._next += 1

    def release_next(self, rooms: dict[str, int]) -> datetime | None:
        """Let the next run end and return when; None when nothing ends any more."""
        if not self._heap:
            return None
        end, _, placement, size = heapq.heappop(self._heap)
        for name, count in placement:
            if name in rooms:
                rooms[name] += count * size
        return end

    def release_until(self, moment: datetime, rooms: dict[str, int]) -> None:
        """Let all runs end that end by a moment."""
        while self._heap and self._heap[0][0] <= moment:
            self.release_next(rooms)
