"""The way to a site: its port of Kubernetes, and the folders of an embedded one."""

import functools
from pathlib import Path
from typing import Literal

from django.conf import settings

from clusters.models import Cluster, Site
from core import errors
from k8s.embedded import paths
from k8s.embedded.port import EmbeddedPort
from k8s.port import Port


def port(site: Site) -> Port:
    """Return the port of a site; raises Unavailable with a sentence when this installation has none."""
    if site.backend == "embedded":
        return embedded()
    raise errors.Unavailable(f"This installation has no access to the site {site.slug}.")


def embedded() -> EmbeddedPort:
    """Return the port of the embedded site of this machine."""
    return _embedded(Path(settings.EMBEDDED_DIR))


@functools.lru_cache(maxsize=8)
def _embedded(folder: Path) -> EmbeddedPort:
    return EmbeddedPort(folder)


def volume_dir(cluster: Cluster, volume: Literal["data", "checkpoints"]) -> Path:
    """Return the folder behind a shared volume of a cluster at an embedded site."""
    if cluster.site.backend != "embedded":
        raise ValueError(f"the volumes of {cluster.site.slug} are not folders of this machine")
    return paths.claim(Path(settings.EMBEDDED_DIR), cluster.object_name, volume)
