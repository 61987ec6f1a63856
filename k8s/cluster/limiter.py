"""A token bucket in front of an API server: stops a runaway loop, and is no bottleneck in honest work."""

import threading
import time
from collections.abc import Callable


class Limiter:
    """Lets `rate` calls a second pass after a burst; safe in threads."""

    def __init__(
        self,
        rate: float = 1000.0,
        burst: int = 2000,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.rate, self.burst = rate, burst
        self._clock, self._sleep = clock, sleep
        self._lock = threading.Lock()
        self._left, self._at = float(burst), clock()

    def take(self) -> None:
        """Wait until one more call may be made."""
        with self._lock:
            now = self._clock()
            self._left = min(float(self.burst), self._left + (now - self._at) * self.rate)
            self._at = now
            self._left -= 1
            wait = -self._left / self.rate if self._left < 0 else 0.0
        if wait > 0:
            self._sleep(wait)
