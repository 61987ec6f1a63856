"""A named pipe that wakes the supervisor: one byte says "look again". Losing a byte only costs a second."""

import contextlib
import os
import select
from pathlib import Path

NAME = "wake"


def poke(folder: Path) -> None:
    """Wake the supervisor of a site, if one listens."""
    with contextlib.suppress(OSError):  # nobody listens, or the pipe is full: it wakes anyway
        fd = os.open(folder / NAME, os.O_WRONLY | os.O_NONBLOCK)
        try:
            os.write(fd, b"!")
        finally:
            os.close(fd)


class Listener:
    """The supervisor's end. It holds a writer too, so that the pipe never reports end of file."""

    def __init__(self, folder: Path) -> None:
        path = folder / NAME
        with contextlib.suppress(FileExistsError):
            os.mkfifo(path, 0o600)
        self._fd = os.open(path, os.O_RDWR | os.O_NONBLOCK)

    def wait(self, seconds: float) -> None:
        """Return when poked or after this many seconds."""
        ready, _, _ = select.select([self._fd], [], [], max(0.0, seconds))
        if ready:
            with contextlib.suppress(BlockingIOError):
                os.read(self._fd, 65536)

    def close(self) -> None:
        os.close(self._fd)
