"""Where pods go, as pure functions: counted slots of extended resources, quota, gangs all or nothing."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from k8s.types import Manifest


@dataclass(frozen=True, slots=True)
class Placement:
    """A node for every pod of a gang, or the reason why there is none."""

    nodes: Mapping[str, str] | None
    reason: str = ""


def requests(pod: Manifest) -> Counter[str]:
    """Return the counted resources of a pod (`nvidia.com/gpu` and others with a slash); the rest is free."""
    found: Counter[str] = Counter()
    for container in pod["spec"]["containers"]:
        asked = container.get("resources") or {}
        for name, amount in {**(asked.get("requests") or {}), **(asked.get("limits") or {})}.items():
            if "/" in name:
                found[name] += int(amount)
    return found


def total(pods: Iterable[Manifest]) -> Counter[str]:
    found: Counter[str] = Counter()
    for pod in pods:
        found.update(requests(pod))
    return found


def within_quota(gang: Sequence[Manifest], held: Counter[str], quotas: Iterable[Manifest]) -> bool:
    """Say whether a namespace that holds this much may hold the gang as well."""
    wanted = total(gang)
    for quota in quotas:
        for name, amount in ((quota.get("spec") or {}).get("hard") or {}).items():
            resource = name.removeprefix("requests.")
            if "/" in resource and wanted[resource] and held[resource] + wanted[resource] > int(amount):
                return False
    return True


def place(gang: Sequence[Manifest], nodes: Iterable[Manifest], used: Mapping[str, Counter[str]]) -> Placement:
    """Put all pods of a gang on nodes, the fullest first, or none; `used` is what each node's pods hold."""
    servers = list(nodes)
    free = {n["metadata"]["name"]: _free(n, used) for n in servers}
    found: dict[str, str] = {}
    for pod in sorted(gang, key=lambda p: -sum(requests(p).values())):
        wanted = requests(pod)
        fitting = [n for n in servers if _suits(pod, n)]
        roomy = [
            n["metadata"]["name"]
            for n in fitting
            if all(free[n["metadata"]["name"]][r] >= amount for r, amount in wanted.items())
        ]
        if not roomy:
            short = ", ".join(sorted(wanted)) or "no room"
            why = f"insufficient {short} for the whole job" if fitting else "no node matches its selector"
            return Placement(None, f"0/{len(servers)} nodes are available: {why}.")
        best = min(roomy, key=lambda name: (sum(free[name][r] for r in wanted), name))
        free[best].subtract(wanted)
        found[pod["metadata"]["name"]] = best
    return Placement(found)


def _free(node: Manifest, used: Mapping[str, Counter[str]]) -> Counter[str]:
    free = Counter(
        {name: int(amount) for name, amount in node["status"]["allocatable"].items() if "/" in name}
    )
    free.subtract(used.get(node["metadata"]["name"], Counter()))
    return free


def _suits(pod: Manifest, node: Manifest) -> bool:
    """Node selector, taints and cordon, as the Kubernetes scheduler filters."""
    spec, tags = pod["spec"], node["metadata"].get("labels") or {}
    if node.get("spec", {}).get("unschedulable"):
        return False
    if any(tags.get(key) != value for key, value in (spec.get("nodeSelector") or {}).items()):
        return False
    taints = node.get("spec", {}).get("taints") or []
    tolerations = spec.get("tolerations") or []
    return all(any(_tolerates(t, taint) for t in tolerations) for taint in taints)


def _tolerates(toleration: Manifest, taint: Manifest) -> bool:
    if toleration.get("effect") not in (None, "", taint["effect"]):
        return False
    if toleration.get("operator", "Equal") == "Exists":
        return toleration.get("key") in (None, "", taint["key"])
    same_key: bool = toleration.get("key") == taint["key"]
    return same_key and toleration.get("value", "") == taint.get("value", "")
