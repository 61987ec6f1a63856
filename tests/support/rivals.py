"""Threads that start together: rivals of a race, each with its own database connection."""

import threading
from collections.abc import Callable
from typing import Any

from django.db import connection


def run(count: int, act: Callable[[int], Any]) -> list[Any]:
    """Call ``act(number)`` from so many threads at once; return what each returned or raised."""
    gate = threading.Barrier(count)
    results: list[Any] = [None] * count

    def rival(number: int) -> None:
        try:
            gate.wait(20)
            results[number] = act(number)
        except BaseException as error:
            results[number] = error
        finally:
            connection.close()

    threads = [threading.Thread(target=rival, args=(number,), daemon=True) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "a rival hangs"
    return results
