"""Who uses which GPU of a cluster: from its nodes and the runs on them to the squares of the grid."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from portal.ui import gpus
from portal.ui.gpus import NodeBox, Square

NODE_KINDS = {
    "draining": "draining",
    "cordoned": "draining",
    "maintenance": "draining",
    "failed": "failed",
    "repair": "failed",
}


@dataclass(frozen=True, slots=True)
class Key:
    """A job in the legend of the grid, with the hue of its squares."""

    hue: int
    name: str
    job: str
    gpus: int


@dataclass(frozen=True, slots=True)
class Picture:
    """Boxes for the grid and the legend that goes with them."""

    boxes: list[NodeBox]
    keys: list[Key]


def picture(
    cluster: Any, nodes: Sequence[Any], runs: Sequence[Any], plan: Mapping[str, int] | None = None
) -> Picture:
    """Return the grid of a cluster. GPUs are counted per node: which index a run has is not known.

    ``plan`` are the GPUs that a job which is not submitted yet would take, by the name of the node.
    """
    each = cluster.node_type.gpus_per_node
    keys: list[Key] = []
    used: dict[str, list[Square]] = {}
    for position, run in enumerate(runs):
        hue, job = gpus.hue_of(position), run.job
        keys.append(Key(hue, job.name, job.pk, job.replicas * job.gpus_per_replica))
        for name, count in run.placement:
            squares = [Square("busy", hue, job.name)] * (int(count) * job.gpus_per_replica)
            used.setdefault(name, []).extend(squares)
    for name, count in (plan or {}).items():
        used.setdefault(name, []).extend([Square("plan")] * count)
    if not nodes:
        return Picture(gpus.plain(cluster.nodes, each, "held" if cluster.status == "held" else "off"), keys)
    return Picture([_box(node, used.get(node.name, []), each, cluster.status) for node in nodes], keys)


def _box(node: Any, used: list[Square], each: int, status: str) -> NodeBox:
    kind = NODE_KINDS.get(node.state, "free")
    if status == "held":
        kind = "held"
    elif status in ("draining", "releasing"):
        kind = "draining"
    elif status != "ready":
        kind = "off"
    rest = [Square(kind, 0, _("not in use") if kind == "free" else "")] * max(0, each - len(used))
    return NodeBox(node.name, [*used[:each], *rest])
