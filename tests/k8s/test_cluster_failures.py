"""Answers and broken connections in our own words."""

import base64
import json
import socket
import ssl
from datetime import UTC, datetime
from pathlib import Path

import pytest

from k8s import errors
from k8s.cluster import access, failures, tls
from k8s.cluster.port import ClusterPort
from k8s.types import Permission
from tests.k8s import manifests
from tests.k8s.sites import MockSite

NOW = datetime(2026, 5, 1, 10, tzinfo=UTC)


def said(message: str, code: int) -> bytes:
    body = {"kind": "Status", "status": "Failure", "message": message, "details": {"name": "a"}, "code": code}
    return json.dumps(body).encode()


@pytest.mark.parametrize(
    ("status", "expected", "retryable"),
    [
        (400, errors.Refused, False),
        (401, errors.Unauthorised, True),
        (403, errors.Refused, False),
        (404, errors.NotFound, False),
        (405, errors.Refused, False),
        (408, errors.Unavailable, True),
        (409, errors.Conflict, True),
        (410, errors.Gone, True),
        (413, errors.Refused, False),
        (415, errors.Refused, False),
        (422, errors.Refused, False),
        (429, errors.Unavailable, True),
        (500, errors.Unavailable, True),
        (501, errors.Refused, False),
        (503, errors.Unavailable, True),
        (504, errors.Unavailable, True),
        (302, errors.Unavailable, True),
    ],
)
def test_each_status_has_its_error(status: int, expected: type[errors.Error], retryable: bool) -> None:
    error = failures.from_answer(status, said("why", status), {}, NOW)
    assert type(error) is expected
    assert error.retryable is retryable


def test_quota_and_rights_are_told_apart() -> None:
    quota = failures.from_answer(
        403, said('pods "a" is forbidden: exceeded quota: gpus, requested: …', 403), {}, NOW
    )
    rights = failures.from_answer(403, said('User "berth" cannot create resource "pods"', 403), {}, NOW)
    assert isinstance(quota, errors.Refused)
    assert isinstance(rights, errors.Refused)
    assert (quota.reason, rights.reason) == ("quota", "forbidden")


def test_a_path_that_is_unknown_is_no_missing_object() -> None:
    nameless = json.dumps({"kind": "Status", "details": {}, "code": 404}).encode()
    for body in (b"404 page not found\n", nameless):
        assert isinstance(failures.from_answer(404, body, {}, NOW), errors.UnknownKind)


@pytest.mark.parametrize("body", [b"", b"<html>bad gateway</html>", b"\xff\xfe", b"[]", b'"text"'])
def test_answers_of_others_on_the_way_are_no_end(body: bytes) -> None:
    error = failures.from_answer(502, body, {}, NOW)
    assert isinstance(error, errors.Unavailable)
    assert "502" in str(error)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("3", 3.0),
        ("Fri, 01 May 2026 10:00:30 GMT", 30.0),
        ("Fri, 01 May 2026 09:00:00 GMT", 0.0),
        ("soon", None),
        ("", None),
    ],
)
def test_patience_is_a_number_or_a_date(text: str, seconds: float | None) -> None:
    assert failures.retry_after({"Retry-After": text}, NOW) == seconds


@pytest.mark.parametrize(
    ("cause", "words"),
    [
        (ConnectionRefusedError(), "Nothing listens"),
        (ConnectionResetError(), "broke"),
        (BrokenPipeError(), "broke"),
        (TimeoutError(), "in time"),
        (socket.gaierror(-2, "Name or service not known"), "cannot be reached"),
        (ssl.SSLError("WRONG_VERSION_NUMBER"), "secure connection"),
    ],
)
def test_connections_fail_in_words(cause: Exception, words: str) -> None:
    outer = RuntimeError("wrapped")
    outer.__cause__ = cause
    assert words in str(failures.from_exception(outer))


def kubeconfig(**user: str) -> dict[str, object]:
    return {
        "current-context": "a",
        "contexts": [{"name": "a", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1/"}}],
        "users": [{"name": "u", "user": user}],
    }


def test_a_kubeconfig_is_read_as_mapping_and_as_text() -> None:
    config = kubeconfig(token="secret")
    found = access.from_kubeconfig(config)
    assert (found.server, found.token) == ("https://127.0.0.1:1", "secret")
    assert access.from_kubeconfig(json.dumps(config)) == found
    assert "secret" not in repr(found)


@pytest.mark.parametrize(
    "config",
    [
        "",
        "[]",
        "{",
        "text",
        {},
        {"current-context": "a"},
        {**kubeconfig(), "current-context": "b"},
        {**kubeconfig(), "clusters": {}},
        {**kubeconfig(), "clusters": [{"name": "c", "cluster": {}}]},
        kubeconfig(**{"client-certificate-data": base64.b64encode(b"x").decode()}),
        kubeconfig(**{"client-certificate-data": "§", "client-key-data": "§"}),
    ],
)
def test_a_kubeconfig_that_says_too_little_is_unusable(config: object) -> None:
    with pytest.raises(access.Unusable):
        access.from_kubeconfig(config)  # type: ignore[arg-type]


def test_certificates_that_are_none_are_unusable() -> None:
    with pytest.raises(access.Unusable):
        tls.context(access.Access("https://127.0.0.1", ca="nonsense"))


def test_a_pod_uses_its_service_account(tmp_path: Path) -> None:
    environ = {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"}
    with pytest.raises(access.Unusable):
        access.in_cluster(tmp_path, environ)
    (tmp_path / "ca.crt").write_text("pem")
    (tmp_path / "token").write_text("token")
    assert access.in_cluster(tmp_path, environ).server == "https://[fd00::1]:443"
    with pytest.raises(access.Unusable):
        access.in_cluster(tmp_path, {})


def test_a_server_that_is_not_there_is_unavailable() -> None:
    with pytest.raises(errors.Unavailable, match="Nothing listens"):
        ClusterPort.from_kubeconfig(kubeconfig(), timeout=1).version()


def test_what_staff_ask_about_a_site(mock_site: MockSite) -> None:
    port = mock_site.port
    assert port.version() == "Kubernetes v1.33.0-mock"
    assert port.served_versions("kubeflow.org", "pytorchjobs") == ("v1",)
    assert port.served_versions("kubeflow.org", "trainjobs") == ()
    assert port.served_versions("none.example.org", "things") == ()
    assert port.extended_resources() == {"nvidia.com/gpu": 4}
    mock_site.api.denied.add(("create", "pods/exec"))
    read, execute = Permission("get", "pods"), Permission("create", "pods", subresource="exec")
    assert port.can([read, execute]) == {read: True, execute: False}


def test_storage_classes_say_which_one_is_taken_by_default(mock_site: MockSite) -> None:
    default = {"storageclass.kubernetes.io/is-default-class": "true"}
    for name, notes in (("slow", {}), ("fast", default)):
        body = {"metadata": {"name": name, "annotations": notes}, "provisioner": "csi.example.org"}
        mock_site.controllers.api.call("POST", "/apis/storage.k8s.io/v1/storageclasses", body)
    assert [(one.name, one.default) for one in mock_site.port.storage_classes()] == [
        ("fast", True),
        ("slow", False),
    ]


def test_a_token_is_issued_for_an_account(mock_site: MockSite) -> None:
    issued = mock_site.port.token_request("clu-a", "default", seconds=3600)
    assert issued.token not in repr(issued)
    assert issued.expires_at.tzinfo is not None
    with pytest.raises(errors.NotFound):
        mock_site.port.token_request("clu-a", "nobody", seconds=3600)
    with pytest.raises(errors.Refused):
        mock_site.port.token_request("clu-a", "default", seconds=1)


def test_missing_rights_are_a_refusal(mock_site: MockSite) -> None:
    mock_site.api.denied.add(("patch", "pytorchjobs"))
    with pytest.raises(errors.Refused) as caught:
        mock_site.port.apply(manifests.job("run-a"))
    assert caught.value.reason == "forbidden"


def test_a_site_without_the_operator_has_no_jobs_to_delete() -> None:
    site = MockSite(operator=False)
    try:
        site.port.apply(manifests.namespace())
        assert site.port.list_objects("clu-a") == []
        assert site.port.get("PyTorchJob", "clu-a", "run-a") is None
        assert site.port.delete("PyTorchJob", "clu-a", "run-a") is False
        assert site.port.served_versions("kubeflow.org", "pytorchjobs") == ()
        with pytest.raises(errors.Refused, match="does not know"):
            site.port.apply(manifests.job("run-a"))
    finally:
        site.close()


def test_a_quota_keeps_pods_out_but_not_the_job(mock_site: MockSite) -> None:
    mock_site.port.apply(manifests.quota(1))
    mock_site.look()
    mock_site.port.apply(manifests.job("run-a", manifests.shell("exec sleep 60"), workers=1, gpus=1))
    mock_site.until(lambda: mock_site.condition("run-a", "Running"))
    assert mock_site.phases() == {"master-0": "Running"}


def test_the_grace_of_pods_is_shortened_and_never_lengthened(mock_site: MockSite) -> None:
    mock_site.port.apply(
        manifests.job("run-a", manifests.shell("trap '' TERM; while :; do sleep 1; done"), grace=600)
    )
    mock_site.until(lambda: mock_site.condition("run-a", "Running"))
    for wanted, expected in ((900, 600), (0, None)):
        mock_site.port.delete("PyTorchJob", "clu-a", "run-a", grace_seconds=wanted)
        pod = mock_site.port.get("Pod", "clu-a", "run-a-master-0")
        assert (pod and pod["metadata"]["deletionGracePeriodSeconds"]) == expected
    mock_site.until(lambda: mock_site.port.get("PyTorchJob", "clu-a", "run-a") is None)
