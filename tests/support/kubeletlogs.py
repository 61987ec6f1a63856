"""The door of a kubelet through which an API server fetches logs, for pods that tests run themselves."""

import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.support.mockapi.podlogs import Logs


class LogServer:
    """HTTPS on loopback; the API server does not check our certificate."""

    def __init__(self, certificate: Path, key: Path) -> None:
        self.logs = Logs()
        handler = type("Handler", (_Handler,), {"logs": self.logs})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.port = int(self._server.server_address[1])
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    logs: Logs

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        query = dict(parse_qsl(url.query))
        parts = url.path.strip("/").split("/")
        if len(parts) != 4 or parts[0] != "containerLogs":
            self.send_error(404)
            return
        limit, tail = query.get("limitBytes"), query.get("tailLines")
        data = self.logs.read(
            (parts[1], parts[2], parts[3]),
            since=query.get("sinceTime", ""),
            stamps=query.get("timestamps") == "true",
            limit=int(limit) if limit else None,
            tail=int(tail) if tail else None,
        )
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: Any) -> None:
        pass
