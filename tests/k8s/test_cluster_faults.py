"""Faults between the port and a site: in the end everything is as if they had not been."""

from collections.abc import Iterator

import pytest

from k8s import errors
from k8s.cluster import access, watching
from k8s.cluster.client import Client
from k8s.cluster.limiter import Limiter
from k8s.cluster.port import ClusterPort
from k8s.labels import CLUSTER
from tests.k8s import manifests
from tests.support.controllers import Api, Controllers
from tests.support.mockapi import Fault, MockApi
from tests.support.mockapi.server import TOKEN

pytestmark = pytest.mark.faults


class Clock:
    """Time that passes only when somebody sleeps."""

    def __init__(self) -> None:
        self.now, self.slept = 1000.0, []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def api() -> Iterator[MockApi]:
    server = MockApi()
    yield server
    server.close()


@pytest.fixture
def client(api: MockApi, clock: Clock) -> Iterator[Client]:
    limiter = Limiter(clock=clock, sleep=clock.sleep)
    made = Client(
        access.from_kubeconfig(api.kubeconfig),
        clock=clock,
        sleep=clock.sleep,
        jitter=lambda: 0.5,
        limiter=limiter,
    )
    yield made
    made.close()


@pytest.fixture
def port(client: Client) -> ClusterPort:
    made = ClusterPort(client)
    made.apply(manifests.namespace())
    return made


FAULTS = {
    "409": Fault(status=409, times=2),
    "429": Fault(status=429, times=2, headers={"Retry-After": "2"}),
    "500": Fault(status=500, times=2),
    "503": Fault(status=503, times=2),
    "reset": Fault("reset", times=2),
    "reset after": Fault("reset", after=True),
    "500 after": Fault(status=500, after=True),
}


def fault(name: str, method: str) -> Fault:
    one = FAULTS[name]
    return Fault(one.do, one.status, method, times=one.times, after=one.after, headers=one.headers)


@pytest.mark.parametrize("name", FAULTS)
def test_an_apply_makes_one_object(api: MockApi, port: ClusterPort, name: str) -> None:
    api.faults.add(fault(name, "PATCH"))
    first = port.apply(manifests.job("run-a"))
    assert api.faults.left() == 0
    (job,), _ = port.list_pytorchjobs()
    assert (job.name, job.uid) == ("run-a", first.uid)
    assert port.apply(manifests.job("run-a")).resource_version == first.resource_version


@pytest.mark.parametrize("name", [name for name in FAULTS if name != "409"])
def test_a_read_gives_what_is_there(api: MockApi, port: ClusterPort, name: str) -> None:
    port.apply(manifests.config_map("code", {"a": "1"}))
    api.faults.add(fault(name, "GET"))
    found = port.get("ConfigMap", "clu-a", "code")
    assert found is not None
    assert found["data"] == {"a": "1"}
    assert api.faults.left() == 0


@pytest.mark.parametrize("name", FAULTS)
def test_a_deletion_removes(api: MockApi, port: ClusterPort, name: str) -> None:
    port.apply(manifests.config_map("code", {}))
    api.faults.add(fault(name, "DELETE"))
    assert port.delete("ConfigMap", "clu-a", "code") is True
    assert port.get("ConfigMap", "clu-a", "code") is None
    assert api.faults.left() == 0


def test_a_deletion_that_is_repeated_spares_the_successor(api: MockApi, port: ClusterPort) -> None:
    port.apply(manifests.config_map("code", {}))
    rival = Api(api.url, TOKEN)
    seen = port.get("ConfigMap", "clu-a", "code")
    rival.remove("/api/v1/namespaces/clu-a/configmaps/code")
    port.apply(manifests.config_map("code", {"new": "1"}))
    answer = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": seen["metadata"]["uid"]}}
    assert rival.call("DELETE", "/api/v1/namespaces/clu-a/configmaps/code", answer) is None
    assert port.get("ConfigMap", "clu-a", "code")["data"] == {"new": "1"}
    rival.close()


@pytest.mark.parametrize("name", FAULTS)
def test_a_node_changes_hands_once(api: MockApi, port: ClusterPort, name: str) -> None:
    controllers = Controllers(Api(api.url, TOKEN), api.logs.write)
    controllers.add_node("node-1", gpus=2, labels={})
    api.faults.add(fault(name, "PATCH"))
    port.set_node_owner("node-1", "clu-a")
    node = port.get("Node", "", "node-1")
    assert node["metadata"]["labels"][CLUSTER] == "clu-a"
    assert node["spec"]["taints"] == [{"key": CLUSTER, "value": "clu-a", "effect": "NoSchedule"}]
    with pytest.raises(errors.Conflict):
        port.set_node_owner("node-1", "clu-b")
    controllers.close()


def test_patience_is_as_long_as_the_server_asks(api: MockApi, port: ClusterPort, clock: Clock) -> None:
    api.faults.add(Fault(status=429, headers={"Retry-After": "3"}, times=2))
    assert port.version()
    assert clock.slept == [3.05, 3.05]


def test_patience_ends_with_the_timeout(api: MockApi, port: ClusterPort, clock: Clock) -> None:
    api.faults.add(Fault(status=429, headers={"Retry-After": "60"}, times=99))
    with pytest.raises(errors.Unavailable) as caught:
        port.version()
    assert (caught.value.retry_after, caught.value.retryable) == (60.0, True)
    assert clock.slept == []


def test_an_api_that_is_away_is_found_again(api: MockApi, port: ClusterPort, clock: Clock) -> None:
    """Five minutes of nothing; who calls keeps asking, and one object comes of it."""
    api.faults.add(Fault("reset", times=10_000))
    until, failures = clock.now + 300, 0
    while clock.now < until:
        with pytest.raises(errors.Unavailable):
            port.apply(manifests.job("run-a"))
        failures += 1
        clock.sleep(5)
    api.faults.clear()
    assert failures > 30
    assert port.apply(manifests.job("run-a")).created
    assert len(port.list_pytorchjobs()[0]) == 1


def test_a_list_in_pages_starts_anew_when_its_snapshot_is_gone(
    api: MockApi, port: ClusterPort, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("k8s.cluster.listing.PAGE", 2)
    for name in "abcde":
        port.apply(manifests.job(f"run-{name}"))
    api.faults.add(Fault(status=410, method="GET", path="continue="))
    assert [job.name for job in port.list_pytorchjobs()[0]] == [f"run-{name}" for name in "abcde"]


def test_a_hung_watch_is_noticed_and_taken_up_again(api: MockApi, client: Client, port: ClusterPort) -> None:
    _, version = port.list_pytorchjobs()
    port.apply(manifests.job("run-a"))
    api.faults.add(Fault("hang", path="watch="))
    with pytest.raises(errors.Unavailable, match="silent"):
        list(watching.pytorchjobs(client, version, timeout=600, silence=0.1))
    event = next(iter(watching.pytorchjobs(client, version, timeout=600, silence=5)))
    assert (event.type, event.job.name) == ("added", "run-a")


@pytest.mark.parametrize("status", [410, 500])
def test_a_watch_that_is_refused_says_how_to_go_on(api: MockApi, port: ClusterPort, status: int) -> None:
    _, version = port.list_pytorchjobs()
    api.faults.add(Fault(status=status, path="watch="))
    with pytest.raises(errors.Gone if status == 410 else errors.Unavailable):
        list(port.watch_pytorchjobs(version, timeout=1))
    assert [event.type for event in port.watch_pytorchjobs(version, timeout=0.1)] == ["bookmark"]


def test_credentials_that_are_not_accepted_are_not_tried_again(api: MockApi, clock: Clock) -> None:
    config = api.kubeconfig
    config["users"][0]["user"]["token"] = "old"
    port = ClusterPort(Client(access.from_kubeconfig(config), clock=clock, sleep=clock.sleep))
    with pytest.raises(errors.Unauthorised):
        port.list_nodes()
    assert clock.slept == []
    port.close()


def test_a_write_that_is_not_safe_is_made_once(api: MockApi, port: ClusterPort) -> None:
    port.apply(
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "us", "namespace": "clu-a"}}
    )
    api.faults.add(Fault(status=500, method="POST"))
    with pytest.raises(errors.Unavailable):
        port.token_request("clu-a", "us", seconds=3600)
    assert len([one for one in api.faults.seen if one[0] == "POST"]) == 1
