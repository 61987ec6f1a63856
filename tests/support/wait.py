"""Waiting in tests: poll a condition with a deadline."""

import time
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


def until(condition: Callable[[], Result], seconds: float = 10, pause: float = 0.02) -> Result:
    """Return the first true result of the condition; raise AssertionError when the time runs out."""
    deadline = time.monotonic() + seconds
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > deadline:
            raise AssertionError(f"not true within {seconds} s: {condition}")
        time.sleep(pause)
