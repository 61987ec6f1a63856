"""Closes the network: a test that reaches for anything but this machine fails and says so."""

import ipaddress
import socket
from typing import Any

LOCAL = {"localhost", "localhost.localdomain", ""}


class NetworkClosed(AssertionError):
    """A test wanted to leave this machine."""


def is_local(host: object) -> bool:
    """Say whether a host is this machine: a loopback address or its name."""
    if isinstance(host, bytes):
        host = host.decode()
    if host is None or host in LOCAL:
        return True
    try:
        return ipaddress.ip_address(str(host).partition("%")[0]).is_loopback
    except ValueError:
        return False


def close() -> None:
    """Let sockets of this process reach the loopback address and UNIX sockets only."""
    for name in ("connect", "connect_ex"):
        setattr(socket.socket, name, _guarded(getattr(socket.socket, name)))
    resolve = socket.getaddrinfo

    def getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:
        if not is_local(host) and not _is_address(host):
            raise NetworkClosed(f"A test asked for the address of {host!r}.")
        return resolve(host, *args, **kwargs)

    socket.getaddrinfo = getaddrinfo


def _guarded(original: Any) -> Any:
    def connect(self: socket.socket, address: Any) -> Any:
        if self.family in {socket.AF_INET, socket.AF_INET6} and not is_local(address[0]):
            raise NetworkClosed(f"A test wanted to connect to {address!r}.")
        return original(self, address)

    return connect


def _is_address(host: Any) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
