"""The part that runs pods: starts shims, adopts those of an earlier supervisor, reports and ends them."""

import contextlib
import subprocess
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from k8s import convert
from k8s.embedded import launch, logs, paths, processes, removal
from k8s.embedded.store import Store
from k8s.types import Manifest

SLACK_SECONDS = 5.0  # beyond the grace, before the shim itself is killed
LOST = {
    "exitCode": 137,
    "reason": "ContainerStatusUnknown",
    "message": "The container could not be located when the pod was terminated",
}
SHUTDOWN = {
    "reason": "Terminated",
    "message": "Pod was terminated in response to imminent node shutdown.",
}


@dataclass
class Live:
    """A pod whose shim was started or adopted."""

    pod: Manifest
    folder: Path
    process: subprocess.Popen[bytes] | None = None
    step: str = ""  # what was reported last
    deadline: float | None = None  # when the shim was told to kill, as seconds since the epoch


class Kubelet:
    """Keeps the pods that are bound to nodes in step with their processes."""

    def __init__(self, settings: launch.Settings, store: Store) -> None:
        self.settings, self._store = settings, store
        self.live: dict[str, Live] = {}  # by uid

    def adopt(self, pod: Manifest) -> bool:
        """Take over a pod whose shim was started before, by whomever; False if none was."""
        uid = pod["metadata"]["uid"]
        folder = paths.pod(self.settings.folder, uid)
        if uid not in self.live:
            if not (processes.state(folder) or processes.result(folder) or processes.lives(folder)):
                return False
            self.live[uid] = Live(pod, folder)
        return True

    def start(self, pod: Manifest) -> bool:
        """Start a bound pod; False if something that it refers to is not there yet."""
        if self.adopt(pod):
            return True
        uid, namespace = pod["metadata"]["uid"], pod["metadata"]["namespace"]
        try:
            with self._store.read() as site:
                lookup: launch.Lookup = lambda kind, name: site.get(kind, namespace, name)  # noqa: E731
                folder = launch.prepare(self.settings, pod, lookup)
        except launch.NotReady as error:
            self._report(pod, _waiting(pod, error.reason, str(error)))
            return False
        except (OSError, LookupError, TypeError, ValueError, AttributeError) as error:
            self._report(pod, _waiting(pod, "CreateContainerError", str(error)))
            return False
        self.live[uid] = Live(pod, folder, processes.spawn(folder))
        return True

    def observe(self, *, thorough: bool) -> None:
        """Report what shims have written; `thorough` also finds those that died without a word."""
        for uid, live in list(self.live.items()):
            if self._check_step(live):
                continue  # the end waits for the next look, so that nobody misses that it ran
            result = processes.result(live.folder)
            if result is not None or thorough:
                self._check_end(uid, live, result)

    def soon(self) -> bool:
        """Say whether some pod is between two states, so that it pays to look again at once."""
        return any(processes.result(live.folder) is not None for live in self.live.values())

    def terminate(self, pod: Manifest, deadline: float) -> None:
        """Make an adopted pod end by this time (seconds since the epoch); call it until the pod is gone."""
        uid, now = pod["metadata"]["uid"], time.time()
        live = self.live[uid]
        if live.deadline is None or deadline < live.deadline - 0.5:
            if processes.terminate(live.folder, max(0.0, deadline - now)):
                live.deadline = deadline
        elif now > live.deadline + SLACK_SECONDS:
            processes.kill(live.folder, uid)

    def forget(self, pod: Manifest) -> None:
        """Drop a pod object whose processes are gone; its log and last word are kept for a while."""
        meta = pod["metadata"]
        with self._store.write() as site:
            site.remove("Pod", meta["namespace"], meta["name"])
            site.remember_pod(meta["namespace"], meta["name"], meta["uid"], time.time())
        self._clear(paths.pod(self.settings.folder, meta["uid"]), keep=("log", "exit.json"))

    def _check_end(self, uid: str, live: Live, result: dict[str, Any] | None) -> None:
        if live.process is not None and live.process.poll() is None:
            return
        if processes.lives(live.folder):
            return
        result = result or processes.result(live.folder)  # it may have written that just now
        if result is None and processes.strays(uid):
            processes.kill(live.folder, uid)
            return
        if result is None:
            status = _lost(live.pod)
        else:
            status = _ended(live.pod, result, logs.tail(live.folder / "log"))
        self._report(live.pod, status)
        self._clear(live.folder, keep=("log", "exit.json"))
        del self.live[uid]

    def _check_step(self, live: Live) -> bool:
        """Report a container that has started since the last look."""
        state = processes.state(live.folder)
        if state is None or state["step"] == live.step:
            return False
        live.step = state["step"]
        running = [{"name": state["step"], "state": {"running": {"startedAt": state["started_at"]}}}]
        if state["init"]:
            waiting = _waiting(live.pod, "PodInitializing", "")
            self._report(live.pod, waiting | {"initContainerStatuses": running})
        else:
            self._report(
                live.pod,
                {"phase": "Running", "startTime": state["started_at"], "containerStatuses": running},
            )
        return True

    def _report(self, pod: Manifest, status: Manifest) -> None:
        meta = pod["metadata"]
        with self._store.write() as site:
            now = site.get("Pod", meta["namespace"], meta["name"])
            if now is not None and now["metadata"]["uid"] == meta["uid"] and now.get("status") != status:
                now["status"] = status
                site.put(now)

    def _clear(self, folder: Path, keep: tuple[str, ...]) -> None:
        """Remove all of a pod's folder but these files: secrets and scratch space go with the processes."""
        with contextlib.suppress(FileNotFoundError):
            for entry in folder.iterdir():
                if entry.name in keep:
                    continue
                if entry.is_dir() and not entry.is_symlink():
                    removal.remove(entry)
                else:
                    entry.unlink(missing_ok=True)


def deadline(pod: Manifest, asked: datetime) -> float:
    """Return when a pod that was asked to end then is killed, in seconds since the epoch."""
    grace = pod["metadata"].get("deletionGracePeriodSeconds")
    if grace is None:
        grace = pod["spec"].get("terminationGracePeriodSeconds", launch.DEFAULT_GRACE)
    return asked.timestamp() + float(grace)


def _main_name(pod: Manifest) -> str:
    return str(pod["spec"]["containers"][0]["name"])


def _waiting(pod: Manifest, reason: str, message: str) -> Manifest:
    state = {"waiting": {"reason": reason, "message": message}}
    return {"phase": "Pending", "containerStatuses": [{"name": _main_name(pod), "state": state}]}


def _ended(pod: Manifest, result: dict[str, Any], last_words: str) -> Manifest:
    terminated = {
        "exitCode": result["exit_code"],
        "reason": result["reason"],
        "startedAt": result["started_at"],
        "finishedAt": result["finished_at"],
        "message": result["message"],
    }
    if result["reason"] == "StartError":
        del terminated["startedAt"]  # it never ran
    main = pod["spec"]["containers"][0]
    wants_log = main.get("terminationMessagePolicy") == "FallbackToLogsOnError"
    if result["exit_code"] and not result["message"] and wants_log:
        terminated["message"] = last_words
    succeeded = result["exit_code"] == 0 and not result["init"] and not result["stopped"]
    ended = [{"name": result["step"], "state": {"terminated": terminated}}]
    status: Manifest = {"phase": "Succeeded" if succeeded else "Failed", "startTime": result["started_at"]}
    if result["init"]:
        status |= _waiting(pod, "PodInitializing", "") | {"initContainerStatuses": ended, "phase": "Failed"}
    else:
        status["containerStatuses"] = ended
    return status | SHUTDOWN if result["stopped"] else status


def _lost(pod: Manifest) -> Manifest:
    finished = {"finishedAt": convert.format_time(datetime.now(UTC))}
    ended = [{"name": _main_name(pod), "state": {"terminated": LOST | finished}}]
    return {"phase": "Failed", "containerStatuses": ended}
