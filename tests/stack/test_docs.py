"""The documents say what the code does."""

import re

import pytest

from portal import states_page
from tests.support import tree


def test_the_tables_of_states_are_those_of_the_code() -> None:
    page = states_page.PAGE.read_text()
    assert states_page.renewed(page) == page, "renew it with manage.py states"


def test_every_machine_is_on_the_page() -> None:
    assert states_page.named(states_page.PAGE.read_text()) == set(states_page.MACHINES)


@pytest.mark.parametrize("machine", states_page.MACHINES.values(), ids=lambda machine: machine.name)
def test_every_state_leads_to_a_final_one_or_is_one(machine: states_page.Machine) -> None:
    for state in machine.states:
        reached, waiting = {state}, [state]
        while waiting:
            for target in machine.moves[waiting.pop()] - reached:
                reached.add(target)
                waiting.append(target)
        ends = machine.final or {"succeeded", "failed", "cancelled"}  # a job: final until it is resumed
        assert reached & ends, f"{state} never ends"


def test_every_dependency_has_a_reason() -> None:
    page = (tree.ROOT / "docs" / "dependencies.md").read_text()
    named = {
        re.split(r"[\[~=<> ;]", line)[0]
        for name in ("base", "local", "dev", "pods")
        for line in (tree.ROOT / "requirements" / f"{name}.in").read_text().splitlines()
        if line and not line.startswith(("#", "-"))
    }
    explained = set(re.findall(r"^\| `([^`]+)` \|", page, re.MULTILINE))
    assert named == explained


def test_links_between_documents_lead_somewhere() -> None:
    broken = []
    for page in tree.tracked():
        if page.suffix != ".md":
            continue
        for target in re.findall(r"\]\(([^)#\s]+)", page.read_text()):
            if not re.match(r"[a-z]+:", target) and not (page.parent / target).exists():
                broken.append(f"{page.relative_to(tree.ROOT)}: {target}")
    assert broken == []
