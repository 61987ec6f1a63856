"""Money: an integer of minor units and a currency. Floats never come near it."""

from dataclasses import dataclass
from fractions import Fraction

CURRENCIES = ("CNY", "USD")
MINOR_UNITS = 100


@dataclass(frozen=True, slots=True, order=False)
class Money:
    """An amount in minor units (fen, cents) of one currency."""

    amount: int
    currency: str

    def __post_init__(self) -> None:
        if not isinstance(self.amount, int) or isinstance(self.amount, bool):
            raise TypeError("money is an integer of minor units")
        if self.currency not in CURRENCIES:
            raise ValueError(f"unknown currency {self.currency!r}")

    def __add__(self, other: "Money") -> "Money":
        self._same(other)
        return Money(self.amount + other.amount, self.currency)

    def __sub__(self, other: "Money") -> "Money":
        self._same(other)
        return Money(self.amount - other.amount, self.currency)

    def __neg__(self) -> "Money":
        return Money(-self.amount, self.currency)

    def __mul__(self, factor: int) -> "Money":
        if not isinstance(factor, int):
            raise TypeError("multiply by an integer, or take exact parts with fraction()")
        return Money(self.amount * factor, self.currency)

    def fraction(self, part: Fraction) -> "Money":
        """Return this amount times an exact fraction, rounded once, half away from zero."""
        return Money(round_half_up(self.amount * part), self.currency)

    def as_dict(self) -> dict[str, int | str]:
        """Return the shape that the API shows: ``{"amount": 123, "currency": "CNY"}``."""
        return {"amount": self.amount, "currency": self.currency}

    def _same(self, other: "Money") -> None:
        if self.currency != other.currency:
            raise ValueError(f"cannot mix {self.currency} and {other.currency}")


def round_half_up(value: Fraction | int) -> int:
    """Round an exact number to an integer, halves away from zero: the only rounding of money."""
    exact = Fraction(value)
    sign = -1 if exact < 0 else 1
    doubled = abs(exact) * 2 + 1
    return sign * (doubled.numerator // (doubled.denominator * 2))
