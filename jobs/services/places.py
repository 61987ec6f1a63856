"""Where files of training lie: our own storage, and the shared volumes of clusters at embedded sites."""

from functools import lru_cache
from typing import Literal

from django.conf import settings

from clusters.models import Cluster
from clusters.services import ports
from jobs import storage
from jobs.storage import Storage


def ours() -> Storage:
    """Return the storage of this installation: logs and uploads."""
    return _store(settings.STORAGE_URL)


def volume(cluster: Cluster, name: Literal["data", "checkpoints"]) -> Storage | None:
    """Return a shared volume of a cluster, None where it is no folder of this machine."""
    if cluster.site.backend != "embedded":
        return None
    return _store(str(ports.volume_dir(cluster, name).absolute()))


@lru_cache(maxsize=256)
def _store(url: str) -> Storage:
    return storage.from_url(url)
