"""A kubelet for all nodes: runs the main container's command as a process and reports as a kubelet does."""

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from tests.support.controllers.api import Api, Object, of

Sink = Callable[[tuple[str, str, str], bytes], None]


class Live:
    """A process and the thread that hands its output on."""

    def __init__(self, pod: Object, sink: Sink) -> None:
        meta, main = pod["metadata"], pod["spec"]["containers"][0]
        self.started = stamp()
        self.killed_at: float | None = None
        command = [*(main.get("command") or ["true"]), *(main.get("args") or [])]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
        )
        key = (meta["namespace"], meta["name"], main["name"])
        self._reader = threading.Thread(target=self._read, args=(key, sink), daemon=True)
        self._reader.start()

    def _read(self, key: tuple[str, str, str], sink: Sink) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as output:
            for line in output:
                sink(key, line)

    def ended(self) -> int | None:
        """Return the exit code as a shell counts it, once all output was handed on."""
        code = self.process.poll()
        if code is None:
            return None
        self.signal(signal.SIGKILL)  # a container ends with its first process
        self._reader.join()
        return code if code >= 0 else 128 - code

    def signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        self.process.wait()
        self._reader.join()


class Kubelet:
    """All pods that are bound to nodes."""

    def __init__(self, api: Api, sink: Sink) -> None:
        self.api, self._sink = api, sink
        self.live: dict[str, Live] = {}

    def step(self, pods: list[Object]) -> None:
        bound = [pod for pod in pods if pod["spec"].get("nodeName")]
        there = {pod["metadata"]["uid"] for pod in bound}
        for uid in [uid for uid in self.live if uid not in there]:
            self.live.pop(uid).kill()
        for pod in bound:
            self._one(pod)

    def close(self) -> None:
        for live in self.live.values():
            live.kill()
        self.live.clear()

    def _one(self, pod: Object) -> None:
        meta, phase = pod["metadata"], pod["status"].get("phase")
        live, over = self.live.get(meta["uid"]), phase in ("Succeeded", "Failed")
        if live is None:
            if "deletionTimestamp" in meta:
                self.api.remove(of("pods", pod), grace=0)
            elif not over:
                live = self.live[meta["uid"]] = Live(pod, self._sink)
                self._report(pod, "Running", {"running": {"startedAt": live.started}})
            return
        code = live.ended()
        if code is not None and not over:
            said = {"exitCode": code, "reason": "Error" if code else "Completed"}
            said |= {"startedAt": live.started, "finishedAt": stamp()}
            self._report(pod, "Failed" if code else "Succeeded", {"terminated": said})
        if "deletionTimestamp" in meta:
            self._end(pod, live, code)

    def _end(self, pod: Object, live: Live, code: int | None) -> None:
        if code is not None:
            live.kill()
            del self.live[pod["metadata"]["uid"]]
            self.api.remove(of("pods", pod), grace=0)
        elif live.killed_at is None:
            live.signal(signal.SIGTERM)
            live.killed_at = time.monotonic() + pod["metadata"].get("deletionGracePeriodSeconds", 30)
        elif time.monotonic() > live.killed_at:
            live.signal(signal.SIGKILL)

    def _report(self, pod: Object, phase: str, state: dict[str, Any]) -> None:
        main = pod["spec"]["containers"][0]
        entry = {"name": main["name"], "image": main["image"], "imageID": "", "restartCount": 0}
        entry |= {"ready": phase == "Running", "state": state}
        status = {"phase": phase, "startTime": stamp(), "containerStatuses": [entry]}
        self.api.patch(of("pods", pod) + "/status", {"status": status})


def stamp() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
