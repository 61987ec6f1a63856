"""State machines: what follows what, which states are final, and tables that name unknown states."""

import pytest

from core import states

ORDER = states.machine("order", pending="paid cancelled", paid="fulfilled", fulfilled="", cancelled="")


def test_moves_are_those_of_the_table() -> None:
    assert ORDER.allows("pending", "paid")
    assert not ORDER.allows("paid", "pending")
    assert not ORDER.allows("pending", "fulfilled")
    assert not ORDER.allows("cancelled", "cancelled")
    with pytest.raises(KeyError):
        ORDER.allows("lost", "paid")


def test_final_states_have_nothing_after_them() -> None:
    assert ORDER.states == ("pending", "paid", "fulfilled", "cancelled")
    assert ORDER.final == {"fulfilled", "cancelled"}


def test_what_may_come_before_is_the_condition_of_an_update() -> None:
    assert ORDER.before("cancelled") == {"pending"}
    assert ORDER.before("pending") == frozenset()


def test_choices_keep_the_order() -> None:
    assert ORDER.choices()[0] == ("pending", "pending")
    assert len(ORDER.choices()) == 4


def test_a_table_that_leads_nowhere_is_refused() -> None:
    with pytest.raises(ValueError, match="leads to unknown"):
        states.machine("x", a="b c", b="")
