"""Get, list, watch and logs."""

import json
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tests.support.mockapi import selectors, status
from tests.support.mockapi.answers import Answer
from tests.support.mockapi.kinds import Resource

if TYPE_CHECKING:
    from tests.support.mockapi.server import MockApi

Object = dict[str, Any]


def get(api: "MockApi", resource: Resource, namespace: str, name: str) -> Object:
    found = api.objects.get(resource, namespace, name)
    if found is None:
        raise status.not_found(resource, name)
    return found


def listing(api: "MockApi", resource: Resource, namespace: str, query: dict[str, str], accept: str) -> Object:
    match = selectors.matcher(query.get("labelSelector", ""), query.get("fieldSelector", ""))
    token = query.get("continue", "")
    items = [] if token else [o for o in api.objects.find(resource, namespace or None) if match(o)]
    page, meta = api.objects.page(items, int(query.get("limit") or 0), token)
    if "as=PartialObjectMetadataList" in accept:
        page = [{"metadata": obj["metadata"]} for obj in page]
        return {
            "kind": "PartialObjectMetadataList",
            "apiVersion": "meta.k8s.io/v1",
            "metadata": meta,
            "items": page,
        }
    if not resource.custom:  # items of built-in lists do not say what they are
        page = [{k: v for k, v in obj.items() if k not in ("kind", "apiVersion")} for obj in page]
    return {
        "kind": f"{resource.kind}List",
        "apiVersion": resource.api_version,
        "metadata": meta,
        "items": page,
    }


def watch(api: "MockApi", resource: Resource, namespace: str, query: dict[str, str]) -> Iterator[bytes]:
    """Yield events as lines of JSON until the time is up; a version that is too old is an ERROR event."""
    match = selectors.matcher(query.get("labelSelector", ""), query.get("fieldSelector", ""))
    text = query.get("resourceVersion", "")
    if text and not text.isdecimal():
        raise status.bad_request(
            f"Invalid value: {text!r}: strconv.ParseUint: parsing {text!r}: invalid syntax"
        )
    return _events(api, resource, namespace, query, match, int(text or 0))


def _events(
    api: "MockApi", resource: Resource, namespace: str, query: dict[str, str], match: Any, seen: int
) -> Iterator[bytes]:
    deadline = time.monotonic() + float(query.get("timeoutSeconds") or 1800)
    bookmarks = query.get("allowWatchBookmarks") == "true"
    if seen == 0:  # from anywhere: first all that is there
        with api.objects.changed:
            first, seen = api.objects.find(resource, namespace or None), api.objects.version
        for obj in first:
            if match(obj):
                yield _line("ADDED", obj)
    spoke = time.monotonic()
    while not api.closing.is_set():
        try:
            with api.objects.changed:
                found, latest = api.objects.changes(seen, resource), api.objects.version
                if not found and latest >= seen:
                    seen = max(seen, latest)
        except status.Failure as failure:
            yield _line("ERROR", failure.body)
            return
        for change in found:
            seen = change.version
            line = _change(change.old, change.new, namespace, match)
            if line:
                yield line
                spoke = time.monotonic()
        now = time.monotonic()
        last = now >= deadline
        if bookmarks and (last or now - spoke >= api.bookmark_seconds):
            meta = {"resourceVersion": str(seen), "creationTimestamp": None}
            yield _line(
                "BOOKMARK", {"kind": resource.kind, "apiVersion": resource.api_version, "metadata": meta}
            )
            spoke = now
        if last:
            return
        with api.objects.changed:
            if api.objects.version <= seen and not api.closing.is_set():
                api.objects.changed.wait(
                    max(0.0, min(deadline, spoke + api.bookmark_seconds) - time.monotonic())
                )


def _change(old: Object | None, new: Object | None, namespace: str, match: Any) -> bytes | None:
    obj = new or old
    assert obj is not None
    if namespace and obj["metadata"].get("namespace") != namespace:
        return None
    was, now = old is not None and match(old), new is not None and match(new)
    if now:
        return _line("MODIFIED" if was else "ADDED", obj)
    return _line("DELETED", obj) if was else None


def _line(kind: str, obj: Object) -> bytes:
    return json.dumps({"type": kind, "object": obj}).encode() + b"\n"


def log(api: "MockApi", resource: Resource, namespace: str, name: str, query: dict[str, str]) -> Answer:
    pod = get(api, resource, namespace, name)
    spec, said = pod["spec"], pod.get("status") or {}
    every = [*(spec.get("initContainers") or ()), *spec["containers"]]
    container = query.get("container") or spec["containers"][0]["name"]
    if container not in {c["name"] for c in every}:
        raise status.bad_request(f"container {container} is not valid for pod {name}")
    if not query.get("container") and len(spec["containers"]) > 1:
        names = " ".join(c["name"] for c in every)
        raise status.bad_request(
            f"a container name must be specified for pod {name}, choose one of: [{names}]"
        )
    states = [*(said.get("initContainerStatuses") or ()), *(said.get("containerStatuses") or ())]
    state = next((c["state"] for c in states if c["name"] == container), {})
    if "running" not in state and "terminated" not in state:
        why = (state.get("waiting") or {}).get("reason", "ContainerCreating")
        raise status.bad_request(f'container "{container}" in pod "{name}" is waiting to start: {why}')
    key = (namespace, name, container)
    if query.get("follow") == "true":
        return Answer(content_type="text/plain", stream=_follow(api, resource, key, query))
    return Answer(_text(api, key, query), content_type="text/plain")


def _text(api: "MockApi", key: tuple[str, str, str], query: dict[str, str]) -> bytes:
    limit, tail = query.get("limitBytes"), query.get("tailLines")
    return api.logs.read(
        key,
        since=query.get("sinceTime", ""),
        stamps=query.get("timestamps") == "true",
        limit=int(limit) if limit else None,
        tail=int(tail) if tail else None,
    )


def _follow(
    api: "MockApi", resource: Resource, key: tuple[str, str, str], query: dict[str, str]
) -> Iterator[bytes]:
    sent = 0
    while True:
        pod = api.objects.get(resource, key[0], key[1])
        over = pod is None or (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")
        data = _text(api, key, query)
        yield data[sent:]
        sent = len(data)
        if over or api.closing.is_set():
            return
        with api.logs.changed:
            api.logs.changed.wait(0.05)
