"""Writes the tables of docs/states.md from the state machines; the words around them are by hand."""

import re
from pathlib import Path

from billing import states as billing_states
from clusters import states as cluster_states
from core.states import Machine
from jobs import states as job_states

MACHINES = {
    machine.name: machine
    for module in (cluster_states, billing_states, job_states)
    for machine in vars(module).values()
    if isinstance(machine, Machine)
}
PAGE = Path(__file__).resolve().parents[1] / "docs" / "states.md"


def table(machine: Machine) -> str:
    """Return a machine as a Markdown table, in the order of the source."""
    rows = ["| state | may become |", "|---|---|"]
    for state, targets in machine.moves.items():
        following = ", ".join(name for name in machine.moves if name in targets)
        rows.append(f"| `{state}` | {following or 'final'} |")
    return "\n".join(rows)


def renewed(page: str) -> str:
    """Return the page with each table between its markers replaced; KeyError on an unknown machine."""

    def replace(found: re.Match[str]) -> str:
        name = found.group(1)
        return f"<!-- {name} -->\n{table(MACHINES[name])}\n<!-- /{name} -->"

    return re.sub(r"<!-- (\w+) -->\n.*?<!-- /\1 -->", replace, page, flags=re.DOTALL)


def named(page: str) -> set[str]:
    """Return the machines that the page shows."""
    return set(re.findall(r"<!-- (\w+) -->", page))
