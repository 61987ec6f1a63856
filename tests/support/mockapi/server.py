"""The server itself: sockets, one thread per connection, faults before everything else."""

import contextlib
import functools
import json
import socket
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import yaml

from tests.support.mockapi import faults, kinds, routes, status
from tests.support.mockapi.answers import Answer
from tests.support.mockapi.podlogs import Logs
from tests.support.mockapi.store import Store
from tests.support.mockapi.writes import Writer

CRD = Path(__file__).parents[2] / "data" / "kubeflow.org_pytorchjobs.yaml"
TOKEN = "test-token"


@functools.lru_cache(maxsize=1)
def crd() -> dict[str, Any]:
    """Return the CRD of PyTorchJobs."""
    return yaml.load(CRD.read_text(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))


class MockApi:
    """A running server; `objects` may be looked at by tests, writes belong to its clients."""

    def __init__(self, *, version: str = "v1.33.0-mock", operator: bool = True) -> None:
        self.version = version
        self.objects, self.logs, self.faults = Store(), Logs(), faults.Faults()
        self.writer = Writer(self.objects)
        self.denied: set[tuple[str, str]] = set()  # verb and resource, as in `("create", "pods")`
        self.bookmark_seconds = 60.0
        self.closing = threading.Event()
        self.broken: list[str] = []  # faults of this server itself
        self.resources = list(kinds.BUILT_IN)
        for name in ("default", "kube-system"):
            self.writer.create(kinds.BUILT_IN[0], "", {"metadata": {"name": name}}, "apiserver", dry=False)
        if operator:
            self.install(crd())
        self._http = _Http(("127.0.0.1", 0), _Handler)
        self._http.api = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def kubeconfig(self) -> dict[str, Any]:
        return {
            "current-context": "mock",
            "contexts": [{"name": "mock", "context": {"cluster": "mock", "user": "mock"}}],
            "clusters": [{"name": "mock", "cluster": {"server": self.url}}],
            "users": [{"name": "mock", "user": {"token": TOKEN}}],
        }

    def install(self, crd: dict[str, Any]) -> None:
        """Serve what a CRD defines."""
        resource = next(r for r in kinds.BUILT_IN if r.kind == "CustomResourceDefinition")
        stored = {"apiVersion": resource.api_version, "kind": resource.kind, **crd}
        stored["status"] = {"conditions": [{"type": "Established", "status": "True"}]}
        self.objects.put(resource, {**stored, "metadata": {**stored["metadata"], "uid": "crd"}})
        self.resources.append(kinds.from_crd(crd))

    def compact(self) -> None:
        """Make all that was seen so far too old to go on from."""
        self.objects.compact()

    def close(self) -> None:
        self.closing.set()
        with self.objects.changed:
            self.objects.changed.notify_all()
        with self.logs.changed:
            self.logs.changed.notify_all()
        self._http.shutdown()
        self._http.drop()
        self._http.server_close()
        self._thread.join()
        if self.broken:
            raise AssertionError("\n".join(self.broken))


class _Http(ThreadingHTTPServer):
    daemon_threads = False
    block_on_close = True
    request_queue_size = 128
    api: MockApi

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._open: set[socket.socket] = set()

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that go away are nobody's fault."""

    def drop(self) -> None:
        """Break all connections that are still open."""
        for one in list(self._open):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Http

    def do_GET(self) -> None:
        self._serve()

    do_POST = do_PUT = do_PATCH = do_DELETE = do_GET

    def log_message(self, *args: Any) -> None:
        pass

    def _serve(self) -> None:
        api = self.server.api
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        fault = api.faults.take(self.command, self.path)
        try:
            if fault and not fault.after:
                self._fail(fault)
                return
            answer = self._answer(api, body)
            if fault:
                self._fail(fault)
            elif answer.stream is not None:
                self._stream(answer)
            else:
                self.send(answer.code, answer.data, answer.content_type)
        except status.Failure as failure:
            self.send(failure.code, json.dumps(failure.body).encode(), headers=failure.headers)
        except OSError:
            raise
        except Exception:
            text = traceback.format_exc()
            self.server.api.broken.append(text)
            body = status.Failure(500, "InternalError", text).body
            self.send(500, json.dumps(body).encode())

    def _answer(self, api: MockApi, body: bytes) -> Answer:
        url = urlsplit(self.path)
        query = dict(parse_qsl(url.query, keep_blank_values=True))
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            raise status.Failure(401, "Unauthorized", "Unauthorized")
        request = routes.Request(
            api,
            self.command,
            url.path,
            query,
            body,
            self.headers.get("Content-Type", ""),
            self.headers.get("Accept", ""),
        )
        return routes.answer(request)

    def _fail(self, fault: faults.Fault) -> None:
        if fault.do == "reset":
            self.close_connection = True
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            self.connection.shutdown(socket.SHUT_RDWR)
        elif fault.do == "hang":
            self._head(200, {"Content-Type": "application/json", "Transfer-Encoding": "chunked"})
            self.server.api.closing.wait()
            self.close_connection = True
        else:
            reason = faults.REASONS.get(fault.status, "Unknown")
            body = status.Failure(fault.status, reason, fault.message).body
            self.send(fault.status, json.dumps(body).encode(), headers=dict(fault.headers))

    def _stream(self, answer: Answer) -> None:
        self._head(answer.code, {"Content-Type": answer.content_type, "Transfer-Encoding": "chunked"})
        assert answer.stream is not None
        for data in answer.stream:
            if data:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.write(b"0\r\n\r\n")

    def send(
        self,
        code: int,
        data: bytes,
        content_type: str = "application/json",
        headers: dict[str, str] | None = None,
    ) -> None:
        given = {"Content-Type": content_type, "Content-Length": str(len(data)), **(headers or {})}
        self._head(code, given, data)

    def _head(self, code: int, headers: dict[str, str], data: bytes = b"") -> None:
        lines = [f"HTTP/1.1 {code} -", *(f"{name}: {value}" for name, value in headers.items())]
        self.wfile.write("\r\n".join(lines).encode() + b"\r\n\r\n" + data)
