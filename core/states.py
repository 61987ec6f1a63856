"""State machines as tables: which state may follow which. The tables stand in each app's ``states.py``."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Machine:
    """A state machine: ``moves`` maps a state to the states that may follow it; none follow a final one."""

    name: str
    moves: Mapping[str, frozenset[str]]

    @property
    def states(self) -> tuple[str, ...]:
        """All states in the order of the table."""
        return tuple(self.moves)

    @property
    def final(self) -> frozenset[str]:
        """States that nothing follows."""
        return frozenset(state for state, targets in self.moves.items() if not targets)

    def allows(self, source: str, target: str) -> bool:
        """Say whether ``target`` may follow ``source``."""
        return target in self.moves[source]

    def before(self, target: str) -> frozenset[str]:
        """Return the states from which ``target`` may be reached: the WHERE of a conditional update."""
        return frozenset(state for state, targets in self.moves.items() if target in targets)

    def choices(self) -> list[tuple[str, str]]:
        """Return choices for a model field."""
        return [(state, state) for state in self.moves]


def machine(name: str, **moves: str) -> Machine:
    """Build a machine from words: ``machine("order", pending="paid cancelled", paid="")``."""
    table = {state: frozenset(targets.split()) for state, targets in moves.items()}
    for state, targets in table.items():
        if unknown := targets - table.keys():
            raise ValueError(f"{name}: {state} leads to unknown {sorted(unknown)}")
    return Machine(name, table)
