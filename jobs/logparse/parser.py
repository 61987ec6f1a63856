"""Feeds lines through the table of producers and keeps count: resumable, never raises, linear in the text."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jobs.logparse import rows, text

STEP_MAX = 2**62  # what a database holds as a whole number
_QUICK = ("loss", "step", "iter", "batch=", "%|", "train ", "eval ", "nan on rank", "norm", "overflow")


@dataclass(frozen=True, slots=True)
class Point:
    """A value of a curve; ``value`` None is not a number (NaN or infinite).

    Names and units: loss, eval_loss, learning_rate, grad_norm, loss_scale; tokens_per_second,
    samples_per_second; step_seconds (s); tflops (TFLOP/s per GPU); mfu (ratio).
    """

    name: str
    step: int
    time: datetime
    value: float | None


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the training is; ``total`` None where the log does not say."""

    step: int
    total: int | None


class Parser:
    """Reads the log of one replica line by line; give ``state`` back to go on after a restart."""

    def __init__(self, state: Mapping[str, Any] | None = None) -> None:
        given = dict(state or {})
        self._memory: rows.Memory = dict(given.get("memory", {}))
        self._last: dict[str, int] = dict(given.get("last", {}))
        self._index: int = given.get("index", 0)
        self._steps: str = given.get("steps", "exact")
        self._total: int | None = given.get("total")

    @property
    def state(self) -> dict[str, Any]:
        """What the parser knows, as JSON-able values."""
        return {
            "memory": dict(self._memory),
            "last": dict(self._last),
            "index": self._index,
            "steps": self._steps,
            "total": self._total,
        }

    @property
    def progress(self) -> Progress | None:
        """The last step that the log showed, None before the first."""
        step = self._memory.get("step")
        return None if step is None else Progress(step, self._total)

    @property
    def steps(self) -> str:
        """What steps are: ``exact`` as logged, ``bar`` from a progress bar nearby, ``index`` counted lines.

        Hugging Face's Trainer prints no step, and how many steps lie between two lines is not in the log.
        """
        return self._steps

    def feed(self, n: int, time: datetime, line: str) -> list[Point]:
        """Return the points of line ``n``; a step that a curve showed last is not shown again."""
        points: list[Point] = []
        for piece in text.pieces(line):
            lowered = piece.lower()
            if any(word in lowered for word in _QUICK):
                self._read(piece, time, points)
        return points

    def _read(self, piece: str, time: datetime, points: list[Point]) -> None:
        for row in rows.ROWS:
            if all(mark in piece for mark in row.marks) and (reading := row.read(piece, self._memory)):
                self._take(reading, time, points)
                return

    def _take(self, reading: rows.Reading, time: datetime, points: list[Point]) -> None:
        step = reading.step if reading.step is not None else self._count(reading)
        if step is None or step > STEP_MAX:
            return
        self._memory["step"] = step
        if reading.total and reading.total <= STEP_MAX:
            self._total = reading.total
        for name, value in reading.values.items():
            if self._last.get(name) == step:
                continue
            self._last[name] = step
            points.append(Point(name, step, time, value if math.isfinite(value) else None))

    def _count(self, reading: rows.Reading) -> int | None:
        """Give a step to values without one: that of the progress bar, else the number of the loss line."""
        if not reading.values:
            return None
        if "loss" not in reading.values:
            return int(self._memory.get("step", 0))
        if self._index == 0:
            self._steps = "bar" if self._memory.get("bar") else "index"
        self._index += 1
        return int(self._memory["bar"]) if self._steps == "bar" else self._index
