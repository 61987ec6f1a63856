"""The process of an embedded site: operator, scheduler, kubelet and garbage collector in one loop.

It holds no truth: killed at any line, the next one reads the store and the pod folders and goes on.
"""

import fcntl
import logging
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime

from k8s import convert
from k8s.embedded import binder, collector, kubelet, launch, operator, paths, scheduler, wake
from k8s.embedded.cache import Cache, Key, is_over
from k8s.embedded.port import fresh, mark_deleted
from k8s.embedded.store import Store, Transaction
from k8s.types import Manifest

log = logging.getLogger(__name__)

IDLE_SECONDS = 1.0
RETRY_SECONDS = 10.0
BUSY_SECONDS = 0.02
TIDY_SECONDS = 60.0


class AlreadyRunning(Exception):
    """Another supervisor holds this site."""


class Supervisor:
    """One per site folder; `step` does all that can be done now and never waits."""

    def __init__(self, settings: launch.Settings) -> None:
        self.settings, self.folder = settings, settings.folder
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock = _lock(settings)
        self.store = Store(self.folder)
        self.listener = wake.Listener(self.folder)
        self.cache = Cache(self.store)
        self.kubelet = kubelet.Kubelet(settings, self.store)
        self.stopping = False
        self._timers: dict[Key, datetime] = {}
        self._over_quota: set[Key] = set()
        self._unready: set[str] = set()  # uids of bound pods that wait for an object
        self._thorough_at = self._tidy_at = self._retry_at = 0.0

    def run(self, stop: Callable[[], bool]) -> None:
        """Work until told to stop, then end all pods within their grace."""
        wait = 0.0
        while not stop():
            self.listener.wait(wait)
            try:
                wait = self.step()
            except Exception:  # the site must outlive whatever one step meets; the next one starts afresh
                log.exception("The embedded site could not take a step and tries again.")
                wait = IDLE_SECONDS
        self.shut_down()

    def shut_down(self) -> None:
        """Send SIGTERM to all pods, give them their grace, and report how they ended."""
        self.stopping, asked = True, datetime.now(UTC)
        while self.kubelet.live:
            for live in list(self.kubelet.live.values()):
                self.kubelet.terminate(live.pod, kubelet.deadline(live.pod, asked))
            self.listener.wait(min(self.step(), 0.2))
        self.step()

    def close(self) -> None:
        """Let go of the site; pods that still run go on and wait to be adopted."""
        self.listener.close()
        self.store.close()
        os.close(self._lock)

    def step(self) -> float:
        """Do what is to be done now; return after how many seconds to look again unasked."""
        thorough = time.monotonic() >= self._thorough_at
        if thorough:
            self._thorough_at = time.monotonic() + IDLE_SECONDS
        self.kubelet.observe(thorough=thorough)
        dirty = self.cache.refresh() | self._due()
        if self._unready and not self.stopping and time.monotonic() >= self._retry_at:
            self._start(retry=True)
        while True:
            room, settled = self.cache.take_news()
            if not (dirty or room or settled):
                break
            if room:
                dirty |= self._over_quota
                self._over_quota = set()
            for key in sorted(dirty):
                try:
                    self._operate(key)
                except (LookupError, TypeError, ValueError):
                    log.exception("The embedded site cannot make sense of PyTorchJob %s.", key)
            dirty = self.cache.refresh()
            if not self.stopping:
                binder.bind(self.cache, self.store)
                dirty |= self.cache.refresh()
                self._start(retry=settled)
            self._end_pods()
            dirty |= self.cache.refresh()
        self._end_pods()
        if collector.collect(self.cache, self.store, self.folder):
            return 0.0
        if time.monotonic() >= self._tidy_at:
            self._tidy_at = time.monotonic() + TIDY_SECONDS
            collector.tidy(self.store, self.folder)
        return BUSY_SECONDS if self.kubelet.soon() else self._patience()

    def _patience(self) -> float:
        soonest = min(self._timers.values(), default=None)
        wait = (soonest - datetime.now(UTC)).total_seconds() if soonest else IDLE_SECONDS
        return min(IDLE_SECONDS, max(0.0, wait))

    def _due(self) -> set[Key]:
        now = datetime.now(UTC)
        return {key for key, at in self._timers.items() if at <= now}

    def _operate(self, key: Key) -> None:
        """The operator's turn on one job and its pods."""
        self._timers.pop(key, None)
        job, pods = self.cache.jobs.get(key), self.cache.pods.get(key, {})
        uid = job["metadata"]["uid"] if job else ""
        mine = {n: p for n, p in pods.items() if p["metadata"]["ownerReferences"][0]["uid"] == uid}
        orphans = [pod for name, pod in pods.items() if name not in mine]
        with self.store.write() as site:
            now = site.get("PyTorchJob", *key)
            self._delete(site, orphans, None)
            if now is None or job is None or now["metadata"]["uid"] != uid:
                return
            if "deletionTimestamp" in now["metadata"]:
                self._delete(site, list(mine.values()), now["metadata"].get("deletionGracePeriodSeconds"))
                if not mine:
                    site.remove("PyTorchJob", *key)
                return
            decision = operator.decide(now, mine, datetime.now(UTC))
            if decision.again:
                self._timers[key] = decision.again
            if now.get("status") != decision.status:
                now["status"] = decision.status
                site.put(now)
            if decision.expired:
                mark_deleted(site, now, None)
            self._delete(site, [mine[name] for name in decision.delete], None)
            if decision.create and not orphans and not self.stopping:
                self._create(site, key, decision.create)

    def _create(self, site: Transaction, key: Key, pods: tuple[Manifest, ...]) -> None:
        """Create pods if the namespace's quota has room for all of them."""
        quotas = [quota for at, quota in self.cache.quotas.items() if at[0] == key[0]]
        if quotas:
            held = scheduler.total(p for p in site.find("Pod", key[0]) if not is_over(p))
            if not scheduler.within_quota(pods, held, quotas):
                self._over_quota.add(key)
                return
        for pod in pods:
            site.put(fresh(pod))

    def _delete(self, site: Transaction, pods: list[Manifest], grace_seconds: int | None) -> None:
        for pod in pods:
            now = site.get("Pod", pod["metadata"]["namespace"], pod["metadata"]["name"])
            if now is not None and now["metadata"]["uid"] == pod["metadata"]["uid"]:
                mark_deleted(site, now, grace_seconds)

    def _start(self, *, retry: bool) -> None:
        """Start bound pods; those that could not start only when objects changed, or after a while."""
        if retry:
            self._retry_at = time.monotonic() + RETRY_SECONDS
            self._unready.clear()
        for pod in list(self.cache.active.values()):
            uid = pod["metadata"]["uid"]
            waits = pod["spec"].get("nodeName") and not is_over(pod)
            if not waits or uid in self.kubelet.live or uid in self._unready:
                continue
            if "deletionTimestamp" not in pod["metadata"] and not self.kubelet.start(pod):
                self._unready.add(uid)

    def _end_pods(self) -> None:
        """Carry out the deletion of pods: signals first, the object when nothing runs any more."""
        for pod in list(self.cache.active.values()):
            asked = convert.parse_time(pod["metadata"].get("deletionTimestamp"))
            if asked is None:
                continue
            if not is_over(pod) and self.kubelet.adopt(pod):
                self.kubelet.terminate(pod, kubelet.deadline(pod, asked))
            else:
                self.kubelet.forget(pod)
                self._unready.discard(pod["metadata"]["uid"])


def _lock(settings: launch.Settings) -> int:
    """Take the site's lock; a node listing holds it for an instant, so one refusal is not the last word."""
    path = paths.supervisor_lock(settings.folder)
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    for _ in range(20):
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return fd
        except BlockingIOError:
            time.sleep(0.02)
    os.close(fd)
    raise AlreadyRunning(f"Another supervisor runs the embedded site in {settings.folder}.")
