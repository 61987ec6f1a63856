"""How the web process serves. With an embedded site it stays on this machine: that site is no sandbox."""

import ipaddress
import os
import sys
from typing import Any

bind = os.environ.get("WEB_BIND", "127.0.0.1:8000")
worker_class = "gthread"
workers = int(os.environ.get("WEB_WORKERS", "2"))
threads = int(os.environ.get("WEB_THREADS", "8"))
timeout = 60
graceful_timeout = 10
keepalive = 5
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
        host = address[0] if isinstance(address, tuple) else None
        if host is not None and not ipaddress.ip_address(host.replace("localhost", "127.0.0.1")).is_loopback:
            sys.exit(
                f"The embedded site is on, so the portal serves 127.0.0.1 only, not {host}: "
                "its jobs are processes of this machine. Turn EMBEDDED_SITE off to serve others."
            )
