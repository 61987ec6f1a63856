"""Money: integers of one currency, exact parts, one rounding."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.money import Money, round_half_up

AMOUNTS = st.integers(-(10**15), 10**15)
PARTS = st.fractions(-10, 10, max_denominator=10**6)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("0", 0),
        ("1/2", 1),
        ("-1/2", -1),
        ("3/2", 2),
        ("5/2", 3),
        ("-5/2", -3),
        ("249/100", 2),
        ("-249/100", -2),
        ("1/3", 0),
        ("2/3", 1),
        ("7", 7),
    ],
)
def test_halves_go_away_from_zero(value: str, expected: int) -> None:
    assert round_half_up(Fraction(value)) == expected


@given(st.fractions())
def test_rounding_is_symmetric_and_never_off_by_more_than_a_half(value: Fraction) -> None:
    rounded = round_half_up(value)
    assert abs(rounded - value) <= Fraction(1, 2)
    assert round_half_up(-value) == -rounded


@given(AMOUNTS, AMOUNTS, st.integers(-1000, 1000))
def test_arithmetic_is_that_of_integers(one: int, other: int, factor: int) -> None:
    first, second = Money(one, "CNY"), Money(other, "CNY")
    assert (first + second).amount == one + other
    assert (first - second).amount == one - other
    assert first - second == -(second - first)
    assert (first * factor).amount == one * factor
    assert first.as_dict() == {"amount": one, "currency": "CNY"}


@given(AMOUNTS, PARTS)
def test_a_part_is_rounded_once(amount: int, part: Fraction) -> None:
    assert Money(amount, "USD").fraction(part).amount == round_half_up(amount * part)
    assert Money(amount, "USD").fraction(Fraction(1)) == Money(amount, "USD")


def test_currencies_do_not_mix() -> None:
    with pytest.raises(ValueError, match="cannot mix"):
        Money(1, "CNY") + Money(1, "USD")
    with pytest.raises(ValueError, match="cannot mix"):
        Money(1, "CNY") - Money(1, "USD")
    with pytest.raises(ValueError, match="unknown currency"):
        Money(1, "EUR")
    assert Money(1, "CNY") != Money(1, "USD")


@pytest.mark.parametrize("amount", [1.0, True, "1", None, Fraction(1)])
def test_money_is_an_integer(amount: object) -> None:
    with pytest.raises(TypeError):
        Money(amount, "CNY")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        Money(1, "CNY") * 1.5  # type: ignore[operator]
