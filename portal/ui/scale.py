"""Axes of charts: round ticks and positions. Pure."""

import math
from dataclasses import dataclass

STEPS = (1, 2, 2.5, 5, 10)


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps values of ``low`` to ``high`` onto ``start`` to ``stop`` pixels."""

    low: float
    high: float
    start: float
    stop: float

    def at(self, value: float) -> float:
        """Return the position of a value, rounded to a tenth of a pixel."""
        span = self.high - self.low or 1.0
        return round(self.start + (value - self.low) / span * (self.stop - self.start), 1)


def step_for(span: float, about: int) -> float:
    """Return the round step that cuts a span into about so many parts."""
    raw = max(span, 1e-12) / max(about, 1)
    power = 10.0 ** math.floor(math.log10(raw))
    return next(step * power for step in STEPS if step * power >= raw * (1 - 1e-9))


def ticks(low: float, high: float, about: int = 4) -> list[float]:
    """Return round values that lie within low and high."""
    step = step_for(high - low, about)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(index * step, 10) for index in range(first, last + 1)]


def padded(low: float, high: float, about: int = 4) -> tuple[float, float]:
    """Return round ends that enclose low and high; equal ends are spread."""
    if high - low < 1e-12:
        spread = abs(low) * 0.1 or 1.0
        low, high = low - spread, high + spread
    step = step_for(high - low, about)
    return math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step


def short(value: float) -> str:
    """Return an axis label: ``1.2k``, ``3M``, ``0.05``."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.2f}".rstrip("0").rstrip(".") + unit
    if value and abs(value) < 0.01:
        return f"{value:.0e}"
    return f"{value:.3f}".rstrip("0").rstrip(".") or "0"
