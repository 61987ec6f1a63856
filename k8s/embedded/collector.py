"""The garbage collector: ends namespaces and claims, their files first, and forgets old logs."""

import time
from pathlib import Path

from k8s.embedded import paths, removal
from k8s.embedded.cache import Cache, is_over
from k8s.embedded.port import mark_deleted
from k8s.embedded.store import Store
from k8s.types import Manifest

KEEP_LOGS_SECONDS = 3600


def collect(cache: Cache, store: Store, folder: Path) -> bool:
    """Take deletions of namespaces and claims one step further; say whether anything was done."""
    done = False
    for namespace in sorted(cache.closing):
        done |= _close(cache, store, folder, namespace)
    for namespace, claim in sorted(cache.closing_claims):
        if not any(_mounts(pod, claim) for pod in cache.pods_of(namespace)):
            removal.remove(paths.claim(folder, namespace, claim))
            with store.write() as site:
                site.remove("PersistentVolumeClaim", namespace, claim)
            done = True
    return done


def tidy(store: Store, folder: Path) -> None:
    """Forget logs of pods that went long ago, and the oldest changes."""
    with store.read() as site:
        old = site.ended_pods(before=time.time() - KEEP_LOGS_SECONDS)
    for uid in old:
        removal.remove(paths.pod(folder, uid))
    with store.write() as site:
        site.forget_pods(old)
        site.compact()


def _close(cache: Cache, store: Store, folder: Path, namespace: str) -> bool:
    jobs = [job for key, job in cache.jobs.items() if key[0] == namespace]
    if jobs or cache.pods_of(namespace):
        asked = [job for job in jobs if "deletionTimestamp" not in job["metadata"]]
        for job in asked:
            with store.write() as site:
                now = site.get("PyTorchJob", namespace, job["metadata"]["name"])
                if now is not None:
                    mark_deleted(site, now, None)
        return bool(asked)
    with store.read() as site:
        ended = site.ended_pods(namespace=namespace)
    for uid in ended:
        removal.remove(paths.pod(folder, uid))
    removal.remove(paths.namespace(folder, namespace))
    with store.write() as site:
        site.forget_pods(ended)
        for kind, name in site.names(namespace):
            site.remove(kind, namespace, name)
        site.remove("Namespace", "", namespace)
    return True


def _mounts(pod: Manifest, claim: str) -> bool:
    volumes = pod["spec"].get("volumes") or []
    names = [(volume.get("persistentVolumeClaim") or {}).get("claimName") for volume in volumes]
    return not is_over(pod) and claim in names
