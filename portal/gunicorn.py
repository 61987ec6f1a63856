"""How the web process serves. With an embedded site it stays on this machine: that site is no sandbox."""

import ipaddress
import os
import socket
import sys
from typing import Any

bind = os.environ.get("WEB_BIND", "127.0.0.1:8000")
worker_class = "gthread"
workers = int(os.environ.get("WEB_WORKERS", "2"))
threads = int(os.environ.get("WEB_THREADS", "8"))
timeout = 60
graceful_timeout = 10
keepalive = 5
worker_tmp_dir = "/dev/shm" if os.path.isdir("/dev/shm") else None  # noqa: S108  (in memory: a disk may stall)
max_requests = 20_000
max_requests_jitter = 2_000
loglevel = "warning"
control_socket_disable = True
preload_app = True  # one import for all workers; portal.startup closes what it opened


def on_starting(server: Any) -> None:
    """Refuse to serve an embedded site to anybody but this machine."""
    from portal import env

    if not env.flag("EMBEDDED_SITE"):
        return
    for address in server.cfg.address:
        host = _host(address)
        if host is not None and not ipaddress.ip_address(host).is_loopback:
            sys.exit(
                f"The embedded site is on, so the portal serves 127.0.0.1 only, not {host}: "
                "its jobs are processes of this machine. Turn EMBEDDED_SITE off to serve others."
            )


def _host(address: Any) -> str | None:
    """Return the host of an address or of an inherited socket; None of a UNIX socket."""
    if isinstance(address, int):
        with socket.socket(fileno=os.dup(address)) as inherited:
            address = inherited.getsockname()
    if not isinstance(address, tuple):
        return None
    return "127.0.0.1" if address[0] == "localhost" else str(address[0])
