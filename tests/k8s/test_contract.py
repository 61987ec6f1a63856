"""What every implementation of the port does. `any_site` is where others join."""

import pytest

from k8s import errors
from k8s.port import Port
from tests.k8s import manifests
from tests.k8s.sites import AnySite
from tests.support import apiserver

SITES = {"embedded": "site", "mock": "mock_site", "apiserver": "real_site"}
REAL = ["apiserver"] if apiserver.assets() else []


@pytest.mark.skipif(not REAL, reason=apiserver.SKIPPED)
def test_a_real_api_server_takes_part() -> None:
    """Stands for all that runs on a real API server, so that one line says when nothing did."""
    assert REAL


@pytest.fixture(params=["embedded", "mock", *REAL])
def any_site(request: pytest.FixtureRequest) -> AnySite:
    return request.getfixturevalue(SITES[request.param])


@pytest.fixture
def port(any_site: AnySite) -> Port:
    return any_site.port


def test_version_is_for_people(port: Port) -> None:
    assert port.version()


def test_apply_twice_is_once(port: Port) -> None:
    first = port.apply(manifests.job("run-a"))
    again = port.apply(manifests.job("run-a"))
    assert first.created
    assert not again.created
    assert again.uid == first.uid
    jobs, _ = port.list_pytorchjobs()
    assert [job.name for job in jobs] == ["run-a"]


def test_apply_without_change_keeps_the_version(port: Port) -> None:
    first = port.apply(manifests.config_map("code", {"main.py": "print()"}))
    assert port.apply(manifests.config_map("code", {"main.py": "print()"})) == type(first)(
        first.uid, first.resource_version, False
    )
    changed = port.apply(manifests.config_map("code", {"main.py": "print(1)"}))
    assert changed.uid == first.uid
    assert changed.resource_version != first.resource_version


def test_apply_drops_what_the_new_manifest_leaves_out(port: Port) -> None:
    port.apply(manifests.config_map("code", {"a": "1", "b": "2"}))
    port.apply(manifests.config_map("code", {"b": "3"}))
    found = port.get("ConfigMap", "clu-a", "code")
    assert found is not None
    assert found["data"] == {"b": "3"}


def test_dry_run_leaves_nothing(port: Port) -> None:
    assert port.apply(manifests.job("run-a"), dry_run=True).created
    assert port.get("PyTorchJob", "clu-a", "run-a") is None


def test_dry_run_refuses_what_apply_refuses(port: Port) -> None:
    bad = manifests.job("run-a")
    bad["spec"]["pytorchReplicaSpecs"]["Master"]["replicas"] = 2
    for dry_run in (True, False):
        with pytest.raises(errors.Refused) as caught:
            port.apply(bad, dry_run=dry_run)
        assert not caught.value.retryable


@pytest.mark.parametrize("name", ["1run", "Run", "run.a", "run_a", "x" * 64, ""])
def test_job_names_are_dns_1035(port: Port, name: str) -> None:
    with pytest.raises(errors.Refused):
        port.apply(manifests.job(name))


@pytest.mark.parametrize("labels", [{"berth.dev/name": "a b"}, {"berth.dev/name": "名字"}, {"a b": "c"}])
def test_labels_are_checked(port: Port, labels: dict[str, str]) -> None:
    manifest = manifests.config_map("code", {})
    manifest["metadata"]["labels"] = labels
    with pytest.raises(errors.Refused):
        port.apply(manifest)


def test_containers_need_an_image_and_the_name_pytorch(port: Port) -> None:
    for field, value in (("image", ""), ("name", "main")):
        manifest = manifests.job("run-a", container={field: value})
        with pytest.raises(errors.Refused):
            port.apply(manifest)


def test_unknown_kinds_are_refused(port: Port) -> None:
    with pytest.raises(errors.Refused):
        port.apply({"apiVersion": "v1", "kind": "Nonsense", "metadata": {"name": "a", "namespace": "clu-a"}})


def test_apply_into_nowhere_is_not_found(port: Port) -> None:
    with pytest.raises(errors.NotFound):
        port.apply(manifests.job("run-a", namespace="clu-none"))


def test_get_and_delete_of_what_is_not_there(port: Port) -> None:
    assert port.get("ConfigMap", "clu-a", "none") is None
    assert port.delete("ConfigMap", "clu-a", "none") is False
    assert port.delete("PyTorchJob", "clu-none", "none") is False
    assert port.list_objects("clu-none") == []
    assert port.list_pods("clu-none") == []


def test_delete_removes(port: Port) -> None:
    port.apply(manifests.config_map("code", {}))
    assert port.delete("ConfigMap", "clu-a", "code") is True
    assert port.get("ConfigMap", "clu-a", "code") is None
    assert port.delete("ConfigMap", "clu-a", "code") is False


def test_secrets_are_stored_as_data(port: Port) -> None:
    port.apply(manifests.secret("env", {"TOKEN": "s3cret"}))
    found = port.get("Secret", "clu-a", "env")
    assert found is not None
    assert found["data"] == {"TOKEN": "czNjcmV0"}
    assert "stringData" not in found


def test_jobs_are_selected_by_namespace_and_label(port: Port) -> None:
    port.apply(manifests.namespace("clu-b"))
    port.apply(manifests.job("run-a"))
    port.apply(manifests.job("run-b"))
    port.apply(manifests.job("run-c", namespace="clu-b"))
    assert [j.name for j in port.list_pytorchjobs()[0]] == ["run-a", "run-b", "run-c"]
    assert [j.name for j in port.list_pytorchjobs("clu-b")[0]] == ["run-c"]
    assert [j.name for j in port.list_pytorchjobs(selector={manifests.RUN: "run-b"})[0]] == ["run-b"]
    assert port.list_pytorchjobs("clu-b", {manifests.RUN: "run-b"})[0] == []


def test_watch_tells_what_happened_after_the_list(any_site: AnySite) -> None:
    port = any_site.port
    port.apply(manifests.job("run-a"))
    _, version = port.list_pytorchjobs()
    port.apply(manifests.job("run-b", manifests.shell("exit 0")))
    any_site.ended("run-b")
    port.delete("PyTorchJob", "clu-a", "run-b")
    any_site.until(lambda: port.get("PyTorchJob", "clu-a", "run-b") is None)
    events = list(port.watch_pytorchjobs(version, timeout=0.2))
    mine = [e for e in events if e.job is not None and e.job.name == "run-b"]
    assert mine[0].type == "added"
    assert mine[-1].type == "deleted"
    assert any(e.type == "modified" and e.job and e.job.condition("Succeeded") for e in mine)
    assert events[-1].type == "bookmark"


def test_watch_goes_on_where_a_bookmark_stood(port: Port) -> None:
    _, version = port.list_pytorchjobs()
    port.apply(manifests.config_map("noise", {"a": "1"}))
    (bookmark,) = port.watch_pytorchjobs(version, timeout=0.05)
    assert bookmark.type == "bookmark"
    port.apply(manifests.job("run-a"))
    event = next(iter(port.watch_pytorchjobs(bookmark.resource_version, timeout=5)))
    assert (event.type, event.job and event.job.name) == ("added", "run-a")


def test_watch_from_too_far_back_is_gone(any_site: AnySite) -> None:
    port = any_site.port
    _, version = port.list_pytorchjobs()
    port.apply(manifests.job("run-a"))
    any_site.expire_versions()
    with pytest.raises(errors.Gone) as caught:
        list(port.watch_pytorchjobs(version, timeout=0.1))
    assert caught.value.retryable


def test_a_run_is_seen_from_creation_to_success(any_site: AnySite) -> None:
    port = any_site.port
    port.apply(manifests.job("run-a", manifests.shell("echo hello"), workers=1, gpus=1))
    assert any_site.ended("run-a") == "Succeeded"
    (job,), _ = port.list_pytorchjobs()
    assert [(c.type, c.status, c.reason) for c in job.conditions] == [
        ("Created", True, "PyTorchJobCreated"),
        ("Running", False, "PyTorchJobRunning"),
        ("Succeeded", True, "PyTorchJobSucceeded"),
    ]
    assert None not in (job.created_at, job.started_at, job.finished_at)
    master = next(
        pod for pod in port.list_pods("clu-a", {manifests.RUN: "run-a"}) if pod.replica == "master-0"
    )
    assert (master.phase, master.exit_code, master.reason, master.run) == (
        "Succeeded",
        0,
        "Completed",
        "run-a",
    )
    assert None not in (master.started_at, master.finished_at)
    assert master.node in ("node-1", "node-2")


def test_a_deleted_job_is_there_until_its_pods_are_gone(any_site: AnySite) -> None:
    port = any_site.port
    port.apply(manifests.job("run-a", manifests.shell("exec sleep 60"), gpus=1))
    any_site.until(lambda: any_site.condition("run-a", "Running"))
    assert port.delete("PyTorchJob", "clu-a", "run-a")
    (job,), _ = port.list_pytorchjobs()
    assert job.deleted
    with pytest.raises(errors.Conflict) as caught:
        port.apply(manifests.job("run-a"))
    assert caught.value.retryable
    any_site.until(lambda: port.get("PyTorchJob", "clu-a", "run-a") is None)
    assert port.list_pods("clu-a") == []
    assert port.apply(manifests.job("run-a")).created


def test_a_namespace_goes_with_all_inside(any_site: AnySite) -> None:
    port = any_site.port
    port.apply(manifests.claim("data"))
    port.apply(manifests.config_map("code", {}))
    port.apply(manifests.job("run-a", manifests.shell("exec sleep 60"), gpus=1))
    any_site.until(lambda: any_site.condition("run-a", "Running"))
    assert ("PyTorchJob", "run-a") in port.list_objects("clu-a")
    assert ("Pod", "run-a-master-0") in port.list_objects("clu-a")
    assert port.delete("Namespace", "", "clu-a")
    with pytest.raises((errors.Refused, errors.Conflict)):
        port.apply(manifests.config_map("late", {}))
    any_site.until(lambda: port.get("Namespace", "", "clu-a") is None)
    assert port.list_objects("clu-a") == []
    assert port.delete("Namespace", "", "clu-a") is False
    assert port.apply(manifests.namespace()).created


def test_logs_are_read_in_steps_to_the_end(any_site: AnySite) -> None:
    port = any_site.port
    port.apply(manifests.job("run-a", manifests.shell("for i in 1 2 3; do echo line $i; done; exit 3")))
    assert any_site.ended("run-a") == "Failed"
    chunk = port.read_log("clu-a", "run-a-master-0", cursor=None, limit_bytes=100_000)
    assert [line.text for line in chunk.lines] == ["line 1", "line 2", "line 3"]
    assert chunk.lines[0].time.tzinfo is not None
    rest = port.read_log("clu-a", "run-a-master-0", cursor=chunk.cursor, limit_bytes=100_000)
    assert (rest.lines, rest.eof) == ((), True)
    assert rest.exit_code in (3, None)  # None: the site does not know it


def test_log_chunks_hold_about_what_was_asked_for(any_site: AnySite) -> None:
    any_site.port.apply(manifests.job("run-a", manifests.shell("for i in 1 2 3; do echo line $i; done")))
    any_site.ended("run-a")
    cursor, sizes = None, []
    for _ in range(3):
        chunk = any_site.port.read_log("clu-a", "run-a-master-0", cursor=cursor, limit_bytes=6)
        cursor = chunk.cursor
        sizes.append((len(chunk.lines), chunk.eof))
    assert sizes == [(1, False), (1, False), (1, True)]


def test_the_log_of_a_running_pod_has_no_end(any_site: AnySite) -> None:
    port = any_site.port
    port.apply(manifests.job("run-a", manifests.shell("echo first; exec sleep 60")))
    any_site.until(lambda: any_site.condition("run-a", "Running"))
    chunk = any_site.until(
        lambda: (c := port.read_log("clu-a", "run-a-master-0", cursor=None, limit_bytes=1000)).lines and c
    )
    assert not chunk.eof


def test_the_log_of_no_pod_is_not_found(port: Port) -> None:
    with pytest.raises(errors.NotFound):
        port.read_log("clu-a", "none", cursor=None, limit_bytes=1000)


def test_nodes_have_one_owner(port: Port) -> None:
    first = next(node for node in port.list_nodes() if node.name == "node-1")
    assert (first.gpus, first.owner, first.ready, first.schedulable) == (2, "clu-a", True, True)
    with pytest.raises(errors.Conflict):
        port.set_node_owner("node-1", "clu-b")
    port.set_node_owner("node-1", "clu-a")
    port.set_node_owner("node-1", "clu-b", previous="clu-a")
    with pytest.raises(errors.Conflict):
        port.set_node_owner("node-1", None, previous="clu-a")
    port.set_node_owner("node-1", None)
    port.set_node_owner("node-1", None)
    assert next(node for node in port.list_nodes() if node.name == "node-1").owner == ""
    with pytest.raises(errors.NotFound):
        port.set_node_owner("node-9", "clu-a")


def test_an_owned_node_is_tainted(port: Port) -> None:
    node = port.get("Node", "", "node-1")
    assert node is not None
    assert {"key": manifests.CLUSTER, "value": "clu-a", "effect": "NoSchedule"} in node["spec"]["taints"]
