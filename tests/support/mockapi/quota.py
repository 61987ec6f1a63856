"""Admission by ResourceQuota, as far as its controller has written what is hard."""

from typing import Any

from tests.support.mockapi import status
from tests.support.mockapi.kinds import Resource
from tests.support.mockapi.store import Store

Object = dict[str, Any]


def check(store: Store, quotas: Resource, resource: Resource, obj: Object) -> None:
    """Raise 403 when a new object asks for more than a quota of its namespace leaves."""
    meta = obj["metadata"]
    for quota in store.find(quotas, meta.get("namespace") or "-"):
        hard = (quota.get("status") or {}).get("hard") or {}
        asked = {name: amount for name, amount in usage(resource, [obj]).items() if name in hard}
        used = usage(resource, store.find(resource, meta["namespace"]))
        over = [n for n, amount in sorted(asked.items()) if amount and used.get(n, 0) + amount > int(hard[n])]
        if over:
            first = [f"{n}={asked[n]}" for n in over]
            second = [f"{n}={used.get(n, 0)}" for n in over]
            third = [f"{n}={hard[n]}" for n in over]
            raise status.forbidden(
                resource,
                meta["name"],
                f"exceeded quota: {quota['metadata']['name']}, requested: {','.join(first)}, "
                f"used: {','.join(second)}, limited: {','.join(third)}",
            )


def usage(resource: Resource, objects: list[Object]) -> dict[str, int]:
    """Return what objects of one kind use: their number, and what pods that have not ended request."""
    alive = [o for o in objects if (o.get("status") or {}).get("phase") not in ("Succeeded", "Failed")]
    totals = {f"count/{resource.qualified}": len(objects), resource.plural: len(alive)}
    if resource.kind == "Pod":
        for obj in alive:
            for container in obj["spec"]["containers"]:
                requests = (container.get("resources") or {}).get("requests") or {}
                for name, amount in requests.items():
                    if "/" in name and str(amount).isdecimal():
                        totals[f"requests.{name}"] = totals.get(f"requests.{name}", 0) + int(amount)
    return totals
