"""The only module that imports the official client: requests with a timeout, retries and our errors.

JSON goes in and out; nothing of the client leaves this module.
"""

import json
import os
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal
from urllib.parse import urlencode

import urllib3
from kubernetes import client as official

from k8s import errors
from k8s.cluster import failures, tls
from k8s.cluster.access import Access
from k8s.cluster.limiter import Limiter
from k8s.types import Manifest

Query = Mapping[str, str | int | None]
APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
CONNECT_SECONDS = 5.0
SAFE = (errors.Unavailable,)  # reads, and writes on a version that must still be there
IDEMPOTENT = (errors.Unavailable, errors.Conflict)  # conflicts that pass: a quota counted by two at once
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0
TRIES = 5
POOL = 64


@dataclass(frozen=True, slots=True)
class Answer:
    """The status and the JSON of a successful answer."""

    status: int
    body: Manifest


class Silence(Exception):
    """A stream said nothing for as long as its reader waits."""


class Client:
    """A pool of kept-alive connections to one API server; safe in threads and after forks."""

    def __init__(
        self,
        access: Access,
        *,
        timeout: float = 10.0,
        limiter: Limiter | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.timeout = timeout
        self._access, self._context = access, tls.context(access)
        self._limiter = limiter or Limiter()
        self._clock, self._sleep, self._jitter = clock, sleep, jitter
        self._lock = threading.Lock()
        self._api: official.ApiClient | None = None
        self._pid = 0

    def with_timeout(self, timeout: float) -> "Client":
        """Return a client of the same server, with the same limit, that waits for another time."""
        return Client(
            self._access,
            timeout=timeout,
            limiter=self._limiter,
            clock=self._clock,
            sleep=self._sleep,
            jitter=self._jitter,
        )

    def close(self) -> None:
        """Let go of the connections; the next call makes new ones."""
        with self._lock:
            if self._api is not None and self._pid == os.getpid():
                self._api.rest_client.pool_manager.clear()
            self._api = None

    def call(
        self,
        method: Literal["GET", "POST", "PATCH", "DELETE"],
        path: str,
        *,
        query: Query | None = None,
        body: Manifest | None = None,
        content_type: str = "application/json",
        accept: str = "application/json",
        again: tuple[type[errors.Error], ...] = (),
    ) -> Answer:
        """Make a request and return its JSON; raises our errors only.

        `again`: doing it twice is doing it once, so after these errors it is tried again, with jitter
        or as the server asks, within one timeout in all.
        """
        deadline, tried = self._clock() + self.timeout, 0
        while True:
            tried += 1
            left = max(0.05, deadline - self._clock())
            try:
                with self._request(method, path, query, body, content_type, accept, read=left) as response:
                    data = response.data
                return Answer(response.status, json.loads(data) if data else {})
            except errors.Error as error:
                if not isinstance(error, again):
                    raise
                self._wait(error, tried, deadline)
            except ValueError as error:
                raise errors.Unavailable("The site answered with broken JSON.") from error

    def read(self, path: str, *, query: Query | None = None) -> bytes:
        """Return the raw bytes of an answer, for logs."""
        deadline, tried = self._clock() + self.timeout, 0
        while True:
            tried += 1
            left = max(0.05, deadline - self._clock())
            try:
                with self._request("GET", path, query, None, "", "*/*", read=left) as response:
                    return bytes(response.data)
            except errors.Unavailable as error:
                self._wait(error, tried, deadline)

    def lines(self, path: str, *, query: Query, silence: float) -> Iterator[bytes]:
        """Yield the lines of a streamed answer as they come; raises Silence."""
        with self._request("GET", path, query, None, "", "application/json", read=silence) as response:
            rest = b""
            try:
                for chunk in response.stream(65536):
                    *whole, rest = (rest + chunk).split(b"\n")
                    yield from whole
            except urllib3.exceptions.ReadTimeoutError as error:
                raise Silence from error
            except (urllib3.exceptions.HTTPError, OSError) as error:
                raise failures.from_exception(error) from error

    @contextmanager
    def _request(
        self,
        method: str,
        path: str,
        query: Query | None,
        body: Manifest | None,
        content_type: str,
        accept: str,
        *,
        read: float,
    ) -> Iterator[Any]:
        """Open one answer; it is read to its end, or its connection is not used again."""
        self._limiter.take()
        headers = {"Accept": accept, "User-Agent": "berth", **self._authorisation()}
        if body is not None:
            headers["Content-Type"] = content_type
        given = {key: value for key, value in (query or {}).items() if value is not None}
        url = f"{self._access.server}{path}" + (f"?{urlencode(given)}" if given else "")
        response = None
        finished = False
        try:
            wait = (min(CONNECT_SECONDS, read), read)
            response = (
                self._connected()
                .call_api(method, url, header_params=headers, body=body, _request_timeout=wait)
                .response
            )
            if response.status >= 300:
                data = response.data
                finished = True
                raise failures.from_answer(response.status, data, response.headers, datetime.now(UTC))
            yield response
            finished = True
        except errors.Error:
            raise
        except official.ApiException as error:  # the client turns nothing but TLS errors into these
            raise errors.Unavailable(f"No secure connection to the site: {error.reason}.") from error
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise failures.from_exception(error) from error
        finally:
            if response is not None:
                if finished:
                    response.release_conn()
                else:
                    response.close()

    def _authorisation(self) -> dict[str, str]:
        token = self._access.token
        if self._access.token_file is not None:
            try:
                token = self._access.token_file.read_text().strip()
            except OSError as error:
                raise errors.Unauthorised("The service account of this pod cannot be read.") from error
        return {"Authorization": f"Bearer {token}"} if token else {}

    def _connected(self) -> official.ApiClient:
        with self._lock:
            if self._api is None or self._pid != os.getpid():
                configuration = official.Configuration(host=self._access.server)
                api = official.ApiClient(configuration)
                more: dict[str, Any] = {}
                if self._context is not None:
                    more = {"ssl_context": self._context, "server_hostname": self._access.server_name}
                    if self._access.server_name:
                        more["assert_hostname"] = self._access.server_name
                # Own connections: no retries and no redirects behind our back, no proxy of the
                # environment, credentials from memory.
                api.rest_client.pool_manager = urllib3.PoolManager(
                    num_pools=1, maxsize=POOL, block=False, retries=False, **more
                )
                self._api, self._pid = api, os.getpid()
            return self._api

    def _wait(self, error: errors.Error, tried: int, deadline: float) -> None:
        """Wait as long as the server asks, else with full jitter; raise the error if that is too late."""
        pause = self._jitter() * min(LONGEST_PAUSE, FIRST_PAUSE * 2**tried)
        if isinstance(error, errors.Unavailable) and error.retry_after is not None:
            pause = error.retry_after + self._jitter() * FIRST_PAUSE
        late = self._clock() + pause >= deadline
        if tried >= TRIES or late or isinstance(error, errors.Unauthorised):
            raise error
        self._sleep(pause)
