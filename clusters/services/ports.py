"""The way to a site: its port of Kubernetes, and the folders of an embedded one."""

import functools
import json
from pathlib import Path
from typing import Literal

from django.conf import settings

from clusters.models import Cluster, Site
from core import errors, sealing
from k8s.cluster import access
from k8s.cluster.port import ClusterPort
from k8s.embedded import paths
from k8s.embedded.port import EmbeddedPort
from k8s.port import Port


def port(site: Site) -> Port:
    """Return the port of a site; raises Unavailable with a sentence when this installation has none."""
    if site.backend == "embedded":
        return embedded()
    if site.in_cluster or site.kubeconfig:
        try:
            return _kubernetes(site.pk, site.kubeconfig)
        except (access.Unusable, sealing.SealBroken) as error:
            raise errors.Unavailable(f"The credentials of the site {site.slug} cannot be used.") from error
    raise errors.Unavailable(f"This installation has no access to the site {site.slug}.")


def kubernetes(site: Site) -> ClusterPort:
    """Return the port of a Kubernetes site with what only such sites answer; raises as `port` does."""
    found = port(site)
    if not isinstance(found, ClusterPort):
        raise errors.Unavailable(f"The site {site.slug} is no Kubernetes cluster.")
    return found


@functools.lru_cache(maxsize=64)
def _kubernetes(site_id: str, sealed: str) -> ClusterPort:
    """Keep one port for each site and credential: it holds connections and the rate of calls."""
    if not sealed:
        return ClusterPort.in_cluster()
    return ClusterPort.from_kubeconfig(json.loads(sealing.unseal(sealed, context=seal_context(site_id))))


def seal_context(site_id: str) -> str:
    """Return what binds a sealed kubeconfig to its row."""
    return f"site:{site_id}:kubeconfig"


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
