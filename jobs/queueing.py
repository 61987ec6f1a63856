"""Gang admission on one cluster: who starts now and where, who waits, why, and until when at most.

Strict priority, then age. A job may overtake only if its time limit ends before the head of the queue starts
by the limits of those that run; so overtaking never moves the latest start that anybody was told.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from jobs import packing
from jobs.packing import Placement
from jobs.reasons import Reason, reason


@dataclass(frozen=True, slots=True)
class Node:
    """A node that may take replicas: its name and all of its GPUs."""

    name: str
    gpus: int


@dataclass(frozen=True, slots=True)
class Running:
    """A run that holds GPUs, and when it ends: ``earliest`` None is any moment, ``latest`` None never.

    The caller knows both from limit, lease end and observed ETA; a run without a limit ends with the lease.
    """

    id: str
    placement: Placement
    gpus_per_replica: int
    earliest: datetime | None = None
    latest: datetime | None = None


@dataclass(frozen=True, slots=True)
class Queued:
    """A run that waits; a higher ``priority`` goes first, then the older ``queued_at``."""

    id: str
    priority: int
    queued_at: datetime
    replicas: int
    gpus_per_replica: int
    limit_seconds: int | None = None
    not_before: datetime | None = None

    def waits(self, now: datetime) -> bool:
        """Whether its next try is still to come: then it neither starts nor holds others up."""
        return self.not_before is not None and self.not_before > now


@dataclass(frozen=True, slots=True)
class Admission:
    """A run that starts now, and how many of its replicas go on which node."""

    id: str
    placement: Placement


@dataclass(frozen=True, slots=True)
class Estimate:
    """The range in which a start is expected."""

    earliest: datetime
    latest: datetime

    @property
    def is_range(self) -> bool:
        """Say whether a reader would see two different times, which have minutes."""
        return self.latest - self.earliest >= timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Waiting:
    """A run that does not start now: its place in the queue from 1, why, and the expected start."""

    id: str
    position: int
    reason: Reason
    estimate: Estimate | None


@dataclass(frozen=True, slots=True)
class QueuePlan:
    """What to do now with a queue, in queue order."""

    admitted: tuple[Admission, ...]
    waiting: tuple[Waiting, ...]


def plan(
    now: datetime, nodes: Sequence[Node], running: Iterable[Running], queued: Iterable[Queued]
) -> QueuePlan:
    """Decide who starts now; the same input gives the same plan.

    ``running`` holds every run that may still hold GPUs, launching and ending ones too. Cost: runs × nodes.
    """
    held = list(running)
    order = sorted(queued, key=lambda item: (-item.priority, item.queued_at, item.id))
    free = packing.free(((node.name, node.gpus) for node in nodes), held)
    whole = packing.Room({node.name: node.gpus for node in nodes})
    room = packing.Room(free)
    admitted: list[Admission] = []
    waiting: list[tuple[Queued, Reason]] = []
    head: Queued | None = None
    shadow: datetime | None = None
    ahead = 0
    for item in order:
        if whole.of(item.gpus_per_replica) < item.replicas:
            waiting.append((item, reason("too_large")))
            continue
        if item.waits(now):
            waiting.append((item, reason("not_yet")))
            continue
        fits = room.of(item.gpus_per_replica) >= item.replicas
        if head is not None and (held_back := _held_back(item, fits, shadow, now, ahead)):
            waiting.append((item, held_back))
            ahead += 1
            continue
        placement = packing.place(free, item.replicas, item.gpus_per_replica)
        if placement is None:
            head = item
            shadow = _starts(now, free, held, [item]).get(item.id)
            waiting.append((item, _short(item, free)))
            ahead += 1
            continue
        packing.take(free, placement, item.gpus_per_replica)
        room = packing.Room(free)
        admitted.append(Admission(item.id, placement))
        held.append(Running(item.id, placement, item.gpus_per_replica, None, _end(now, item.limit_seconds)))
    estimates = _estimates(now, free, held, [item for item, said in waiting if said.code != "too_large"])
    return QueuePlan(
        tuple(admitted),
        tuple(
            Waiting(item.id, place, said, estimates.get(item.id))
            for place, (item, said) in enumerate(waiting, start=1)
        ),
    )


def _held_back(item: Queued, fits: bool, shadow: datetime | None, now: datetime, ahead: int) -> Reason | None:
    """Return why an item behind the head may not start, None if it may."""
    if not fits:
        return reason("behind_one") if ahead == 1 else reason("behind", count=ahead)
    if item.limit_seconds is None:
        return reason("no_backfill_without_limit")
    end = _end(now, item.limit_seconds)
    if shadow is None or end is None or end > shadow:
        return reason("kept_for_head")
    return None


def _short(item: Queued, free: Mapping[str, int]) -> Reason:
    """Return what the head of the queue lacks."""
    available, needed = sum(free.values()), item.replicas * item.gpus_per_replica
    if available < needed:
        return reason("waits_for_gpus", needed=needed, free=available)
    return reason(
        "waits_for_nodes",
        gpus_per_replica=item.gpus_per_replica,
        room=packing.room(free, item.gpus_per_replica),
        replicas=item.replicas,
    )


def _estimates(
    now: datetime, free: Mapping[str, int], held: Sequence[Running], items: Sequence[Queued]
) -> dict[str, Estimate]:
    """Return the range of each start that has one.

    Latest: everybody ahead runs to the limit and nobody overtakes. Earliest: all that runs ends as early as
    it may and nobody is ahead, except for a job without a limit, which cannot overtake.
    """
    latest = _starts(now, free, held, items)
    earliest_of_shape: dict[tuple[int, int], datetime] = {}
    floor = now
    estimates = {}
    for item in items:
        shape = (item.replicas, item.gpus_per_replica)
        if shape not in earliest_of_shape:
            earliest_of_shape[shape] = _earliest(now, free, held, item)
        earliest = max(earliest_of_shape[shape], item.not_before or now)
        if item.limit_seconds is None:
            earliest = max(earliest, floor)
        if not item.waits(now):
            floor = max(floor, earliest)
        if item.id in latest:
            estimates[item.id] = Estimate(earliest, max(earliest, latest[item.id]))
    return estimates


def _starts(
    now: datetime, free: Mapping[str, int], held: Sequence[Running], items: Sequence[Queued]
) -> dict[str, datetime]:
    """Return when each item starts if all last to their limits and nobody overtakes; unknown starts lack."""
    rooms = dict(free)
    clock = now
    ends = packing.Ends((run.latest, run.placement, run.gpus_per_replica) for run in held if run.latest)
    starts: dict[str, datetime] = {}
    for item in items:
        clock = max(clock, item.not_before or clock)
        ends.release_until(clock, rooms)
        placement = packing.place(rooms, item.replicas, item.gpus_per_replica)
        while placement is None:
            moment = ends.release_next(rooms)
            if moment is None:
                return starts
            clock = max(clock, moment)
            placement = packing.place(rooms, item.replicas, item.gpus_per_replica)
        starts[item.id] = clock
        packing.take(rooms, placement, item.gpus_per_replica)
        if end := _end(clock, item.limit_seconds):
            ends.add(end, placement, item.gpus_per_replica)
    return starts


def _earliest(now: datetime, free: Mapping[str, int], held: Sequence[Running], item: Queued) -> datetime:
    """Return the first moment at which the gang would fit if all runs ended as early as they may."""
    rooms = dict(free)
    ends = packing.Ends((max(now, run.earliest or now), run.placement, run.gpus_per_replica) for run in held)
    clock = now
    while packing.room(rooms, item.gpus_per_replica) < item.replicas:
        moment = ends.release_next(rooms)
        if moment is None:
            break
        clock = moment
    return clock


def _end(start: datetime, limit_seconds: int | None) -> datetime | None:
    return None if limit_seconds is None else start + timedelta(seconds=limit_seconds)
