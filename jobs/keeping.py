"""Which checkpoints of a job go when it keeps only its last ones: never what a run starts from or writes."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stored:
    """A checkpoint that is there. ``run`` is the number of its run; ``fresh``: written to a moment ago."""

    id: str
    run: int
    step: int
    layout: str
    key: str
    complete: bool = True
    fresh: bool = False

    @property
    def family(self) -> tuple[str, str]:
        """What it is counted with: an actor and a critic in folders of their own are kept apart."""
        return self.layout, self.key.rpartition("/")[0]


def surplus(stored: Iterable[Stored], keep: int, in_use: Collection[str]) -> list[str]:
    """Return the ids of the checkpoints to remove, oldest first.

    Of each family the newest ``keep`` complete ones stay: a later run is newer, then a higher step; what
    stands at the same step of a run (a second copy, a link) is one. What is incomplete, fresh or ``in_use``
    stays besides.
    Raises ValueError for a ``keep`` below 1: the newest one is never removed.
    """
    if keep < 1:
        raise ValueError("at least one checkpoint is kept")
    newest_first = sorted(stored, key=lambda one: (one.run, one.step, one.id), reverse=True)
    places: dict[tuple[str, str], set[tuple[int, int]]] = {}
    gone = []
    for one in newest_first:
        if not one.complete:
            continue
        taken = places.setdefault(one.family, set())
        taken.add((one.run, one.step))
        if len(taken) > keep and not (one.fresh or one.id in in_use):
            gone.append(one.id)
    return gone[::-1]
