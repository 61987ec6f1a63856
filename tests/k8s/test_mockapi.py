"""The mock API server itself: what it does must be what a real one does, or the contract proves little."""

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest
import urllib3

from tests.k8s import manifests
from tests.support.mockapi import MockApi
from tests.support.mockapi.server import TOKEN

MAPS = "/api/v1/namespaces/clu-a/configmaps"
JOBS = "/apis/kubeflow.org/v1/namespaces/clu-a/pytorchjobs"
APPLY = "application/apply-patch+yaml"


class Caller:
    """Plain requests, as any client makes them."""

    def __init__(self, api: MockApi) -> None:
        self.api = api
        self._pool = urllib3.PoolManager(retries=False)

    def __call__(
        self, method: str, path: str, body: Any = None, kind: str = "application/json", **more: str
    ) -> Any:
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": kind, **more}
        data = None if body is None else json.dumps(body)
        answer = self._pool.request(method, self.api.url + path, body=data, headers=headers, timeout=10)
        text = answer.data.decode()
        return answer.status, [
            json.loads(line) for line in text.splitlines()
        ] if "watch=" in path else _loaded(text)

    def apply(self, name: str, data: dict[str, str] | None, manager: str, *, force: bool = False) -> Any:
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}
        if data is not None:
            body["data"] = data
        query = f"?fieldManager={manager}" + ("&force=true" if force else "")
        return self("PATCH", f"{MAPS}/{name}{query}", body, APPLY)

    def close(self) -> None:
        self._pool.clear()


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


@pytest.fixture
def call() -> Iterator[Caller]:
    api = MockApi()
    caller = Caller(api)
    caller("POST", "/api/v1/namespaces", {"metadata": {"name": "clu-a"}})
    yield caller
    caller.close()
    api.close()


def test_appliers_own_fields_and_others_keep_theirs(call: Caller) -> None:
    assert call.apply("a", {"ours": "1", "both": "x"}, "berth")[0] == 201
    status, found = call.apply("a", {"theirs": "2", "both": "x"}, "kubectl")
    assert (status, found["data"]) == (200, {"ours": "1", "both": "x", "theirs": "2"})
    assert {entry["manager"] for entry in found["metadata"]["managedFields"]} == {"berth", "kubectl"}
    _, found = call.apply("a", {}, "berth")
    assert found["data"] == {"both": "x", "theirs": "2"}, "shared fields stay with their other owner"


def test_a_conflict_names_the_owner_and_force_takes_over(call: Caller) -> None:
    call.apply("a", {"key": "1"}, "berth")
    status, said = call.apply("a", {"key": "2"}, "kubectl")
    assert (status, said["reason"]) == (409, "Conflict")
    assert 'conflict with "berth": .data.key' in said["message"]
    assert call.apply("a", {"key": "2"}, "kubectl", force=True)[1]["data"] == {"key": "2"}
    _, found = call.apply("a", None, "berth")
    assert found["data"] == {"key": "2"}, "what was taken over is not dropped by its former owner"


def test_an_update_by_others_takes_the_field(call: Caller) -> None:
    call.apply("a", {"key": "1"}, "berth")
    call("PATCH", f"{MAPS}/a?fieldManager=edit", {"data": {"key": "2"}}, "application/merge-patch+json")
    status, said = call.apply("a", {"key": "1"}, "berth")
    assert (status, said["reason"]) == (409, "Conflict")
    assert call.apply("a", {"key": "1"}, "berth", force=True)[1]["data"] == {"key": "1"}


def test_an_apply_without_a_manager_or_with_another_name_is_refused(call: Caller) -> None:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
    assert call("PATCH", f"{MAPS}/a", body, APPLY)[0] == 400
    assert call("PATCH", f"{MAPS}/b?fieldManager=x", body, APPLY)[0] == 400
    assert call("PATCH", f"{MAPS}/a?fieldManager=x", {**body, "kind": "Secret"}, APPLY)[0] == 400


def test_old_versions_lose(call: Caller) -> None:
    _, first = call("POST", MAPS, {"metadata": {"name": "a"}})
    change = {"metadata": {"resourceVersion": first["metadata"]["resourceVersion"]}, "data": {"a": "1"}}
    merge = "application/merge-patch+json"
    assert call("PATCH", f"{MAPS}/a", change, merge)[0] == 200
    status, said = call("PATCH", f"{MAPS}/a", change, merge)
    assert (status, said["reason"]) == (409, "Conflict")
    operations = [{"op": "test", "path": "/data/a", "value": "2"}]
    assert call("PATCH", f"{MAPS}/a", operations, "application/json-patch+json")[0] == 422


def test_names_exist_once(call: Caller) -> None:
    assert call("POST", MAPS, {"metadata": {"name": "a"}})[0] == 201
    status, said = call("POST", MAPS, {"metadata": {"name": "a"}})
    assert (status, said["reason"]) == (409, "AlreadyExists")


def test_pages_come_from_one_snapshot_until_it_expires(call: Caller) -> None:
    for name in "abc":
        call("POST", MAPS, {"metadata": {"name": name}})
    _, first = call("GET", f"{MAPS}?limit=2")
    assert ([i["metadata"]["name"] for i in first["items"]], first["metadata"]["remainingItemCount"]) == (
        ["a", "b"],
        1,
    )
    call("POST", MAPS, {"metadata": {"name": "d"}})
    rest = f"{MAPS}?limit=2&continue={first['metadata']['continue']}"
    _, second = call("GET", rest)
    assert [i["metadata"]["name"] for i in second["items"]] == ["c"]
    assert second["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]
    call.api.compact()
    assert call("GET", rest)[0] == 410


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        ("labelSelector=a%3D1", "x"),
        ("labelSelector=a!%3D1", "yz"),
        ("labelSelector=a", "xy"),
        ("labelSelector=!a", "z"),
        ("labelSelector=a in (1,2)", "xy"),
        ("labelSelector=a notin (1)", "yz"),
        ("fieldSelector=metadata.name%3Dz", "z"),
    ],
)
def test_selectors(call: Caller, selector: str, names: str) -> None:
    for name, labels in (("x", {"a": "1"}), ("y", {"a": "2"}), ("z", {})):
        call("POST", MAPS, {"metadata": {"name": name, "labels": labels}})
    _, found = call("GET", f"{MAPS}?{selector}".replace(" ", "%20"))
    assert "".join(item["metadata"]["name"] for item in found["items"]) == names


def test_a_watch_tells_a_selector_what_comes_and_goes(call: Caller) -> None:
    _, start = call("GET", MAPS)
    merge = "application/merge-patch+json"
    call("POST", MAPS, {"metadata": {"name": "x"}})
    call("PATCH", f"{MAPS}/x", {"metadata": {"labels": {"a": "1"}}}, merge)
    call("PATCH", f"{MAPS}/x", {"data": {"k": "v"}}, merge)
    call("PATCH", f"{MAPS}/x", {"metadata": {"labels": None}}, merge)
    version = start["metadata"]["resourceVersion"]
    query = (
        f"watch=true&timeoutSeconds=0.1&labelSelector=a&allowWatchBookmarks=true&resourceVersion={version}"
    )
    _, events = call("GET", f"{MAPS}?{query}")
    assert [event["type"] for event in events] == ["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]


def test_a_watch_from_before_a_compaction_is_an_error_event(call: Caller) -> None:
    call.api.compact()
    _, (event,) = call("GET", f"{MAPS}?watch=true&timeoutSeconds=1&resourceVersion=1")
    assert (event["type"], event["object"]["code"], event["object"]["reason"]) == ("ERROR", 410, "Expired")


def test_custom_objects_follow_their_schema(call: Caller) -> None:
    job = manifests.job("run-a")
    job["spec"]["nonsense"] = {"a": 1}
    job["status"] = {"conditions": []}
    status, made = call("POST", JOBS, job)
    assert (status, made["metadata"]["generation"]) == (201, 1)
    assert "nonsense" not in made["spec"]
    assert "status" not in made
    bad = manifests.job("run-b")
    bad["spec"]["nprocPerNode"] = 8
    status, said = call("POST", JOBS, bad)
    assert (status, said["reason"]) == (422, "Invalid")
    assert "nprocPerNode" in said["message"]


def test_status_is_written_apart(call: Caller) -> None:
    _, job = call("POST", JOBS, manifests.job("run-a"))
    job["status"] = {"conditions": [{"type": "Created", "status": "True"}], "replicaStatuses": {}}
    assert "status" not in call("PUT", f"{JOBS}/run-a", job)[1]
    _, found = call("PUT", f"{JOBS}/run-a/status", job)
    assert found["status"]["conditions"][0]["type"] == "Created"
    assert found["metadata"]["generation"] == 1


def test_finalizers_hold_an_object_back(call: Caller) -> None:
    call("POST", MAPS, {"metadata": {"name": "a", "finalizers": ["example.org/hold"]}})
    assert call("DELETE", f"{MAPS}/a")[1]["metadata"]["deletionTimestamp"]
    merge = "application/merge-patch+json"
    call("PATCH", f"{MAPS}/a", {"metadata": {"finalizers": None}}, merge)
    assert call("GET", f"{MAPS}/a")[0] == 404


def test_dry_runs_are_checked_and_leave_nothing(call: Caller) -> None:
    assert call("POST", f"{MAPS}?dryRun=All", {"metadata": {"name": "a"}})[0] == 201
    assert call("POST", f"{MAPS}?dryRun=All", {"metadata": {"name": "A"}})[0] == 422
    assert call("GET", f"{MAPS}/a")[0] == 404


def test_secrets_are_stored_as_base64(call: Caller) -> None:
    secrets = MAPS.replace("configmaps", "secrets")
    _, made = call("POST", secrets, {"metadata": {"name": "s"}, "stringData": {"k": "v"}})
    assert (base64.b64decode(made["data"]["k"]), "stringData" in made) == (b"v", False)


def test_who_is_nobody_gets_nothing(call: Caller) -> None:
    assert call("GET", MAPS, Authorization="Bearer other")[0] == 401


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("GET", "/apis/example.org/v1/things", 404),
        ("GET", "/nonsense", 404),
        ("POST", "/api/v1/namespaces/clu-a/pods/x/eviction", 501),
        ("DELETE", MAPS, 501),
        ("GET", "/api/v1/pods?fieldSelector=spec.hostNetwork%3Dtrue", 501),
        ("POST", f"{MAPS}/a", 405),
    ],
)
def test_what_is_lacking_is_said(call: Caller, method: str, path: str, code: int) -> None:
    assert call(method, path, {})[0] == code


def test_discovery_lists_what_a_crd_defines(call: Caller) -> None:
    assert call("GET", "/version")[1]["gitVersion"].startswith("v1.33")
    assert "kubeflow.org" in [group["name"] for group in call("GET", "/apis")[1]["groups"]]
    assert [one["name"] for one in call("GET", "/apis/kubeflow.org/v1")[1]["resources"]] == ["pytorchjobs"]


def test_logs_are_followed_to_their_end(call: Caller) -> None:
    pods = MAPS.replace("configmaps", "pods")
    call("POST", pods, {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}})
    assert call("GET", f"{pods}/p/log")[0] == 400
    ended = {
        "phase": "Succeeded",
        "containerStatuses": [{"name": "c", "state": {"terminated": {"exitCode": 0}}}],
    }
    call("PATCH", f"{pods}/p/status", {"status": ended}, "application/merge-patch+json")
    call.api.logs.write(("clu-a", "p", "c"), b"one\ntwo\n", "2026-05-01T10:00:00.000000000Z")
    assert call("GET", f"{pods}/p/log?follow=true") == (200, "one\ntwo\n")
    assert (
        call("GET", f"{pods}/p/log?tailLines=1&timestamps=true")[1] == "2026-05-01T10:00:00.000000000Z two\n"
    )
    assert call("GET", f"{pods}/p/log?limitBytes=5")[1] == "one\nt"
