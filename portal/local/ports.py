"""Ports of the loopback address."""

import contextlib
import socket


def free() -> int:
    """Return a port that nobody uses at this moment."""
    with contextlib.closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_free(port: int) -> bool:
    """Say whether a server could listen on the port of the loopback address."""
    with contextlib.suppress(OSError), listen(port):
        return True
    return False


def listen(port: int) -> socket.socket:
    """Return a socket that listens on the port of the loopback address; raises OSError when it is taken."""
    return socket.create_server(("127.0.0.1", port), backlog=512)
