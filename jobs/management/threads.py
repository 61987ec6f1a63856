"""What long-running commands share: threads that work until SIGTERM or Ctrl-C."""

import signal
import threading
from collections.abc import Callable
from types import FrameType

Work = dict[str, Callable[[threading.Event], None]]
JOIN_SECONDS = 15.0


def until_told(work: Work, *, ready: Callable[[], None]) -> None:
    """Run each function in a thread and wait; ``ready`` is called once all are started."""
    stop = threading.Event()

    def leave(_signal: int, _frame: FrameType | None) -> None:
        stop.set()

    signal.signal(signal.SIGTERM, leave)
    signal.signal(signal.SIGINT, leave)
    threads = [threading.Thread(target=run, args=(stop,), name=name) for name, run in work.items()]
    for thread in threads:
        thread.start()
    ready()
    # A thread that ends by itself met what it cannot handle: leave, so that the process starts anew.
    while not stop.wait(1.0):
        if not all(thread.is_alive() for thread in threads):
            stop.set()
    for thread in threads:
        thread.join(timeout=JOIN_SECONDS)
