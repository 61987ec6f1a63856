"""Sites of real Kubernetes: credentials that are judged and sealed, and what a check finds."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import yaml
from django.utils import timezone

from accounts.models import AuditEntry
from clusters import site_words
from clusters.models import Site
from clusters.services import ports, site_checks, sites
from core import errors
from core.actors import Actor
from k8s import errors as k8s_errors
from k8s import rights
from k8s.types import Permission, StorageClass
from tests.support.mockapi import MockApi
from tests.support.mockapi.server import TOKEN

pytestmark = pytest.mark.django_db
STAFF = Actor(kind="staff", label="staff@berth.example")


@pytest.fixture
def api(settings: Any) -> Iterator[MockApi]:
    settings.DEMO = True  # a server on this machine is for trying out
    made = MockApi()
    yield made
    made.close()


def add(text: str, **fields: Any) -> Site:
    values: dict[str, Any] = {
        "slug": "north",
        "name": "North",
        "city": "",
        "zone": "Asia/Shanghai",
        "gpu_resource": "nvidia.com/gpu",
        "storage_class": "",
        "in_cluster": False,
    }
    return sites.add(text=text, actor=STAFF, now=timezone.now(), **(values | fields))


def test_a_site_is_sealed_reached_and_never_shown(api: MockApi) -> None:
    site = add(yaml.safe_dump(api.kubeconfig))
    assert not site.active
    assert TOKEN not in site.kubeconfig
    assert TOKEN not in json.dumps(list(AuditEntry.objects.values("action", "after")), default=str)
    assert ports.port(site).version() == "Kubernetes v1.33.0-mock"
    assert ports.port(Site.objects.get()) is ports.port(site)
    found = sites.check(site_id=site.pk, now=timezone.now())
    said = {one["code"]: one["severity"] for one in found.findings}
    assert (said["version"], said["operator"], said["rights"]) == ("ok", "ok", "ok")
    assert (said["no_gpus"], said["no_default_class"]) == ("problem", "problem")


def test_every_fault_of_a_kubeconfig_is_named_and_nothing_is_kept(settings: Any) -> None:
    settings.DEMO = False
    bad = yaml.safe_dump(
        {
            "current-context": "a",
            "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
            "clusters": [{"name": "a", "cluster": {"server": "https://127.0.0.1", "proxy-url": "http://x"}}],
            "users": [{"name": "a", "user": {"exec": {"command": "sh"}}}],
        }
    )
    with pytest.raises(errors.Invalid) as caught:
        add(bad)
    assert {one.code for one in caught.value.errors} == {
        "proxy",
        "local_server",
        "exec_plugin",
        "no_credentials",
    }
    assert not Site.objects.exists()


def test_a_short_name_is_taken_once(api: MockApi) -> None:
    add(yaml.safe_dump(api.kubeconfig))
    with pytest.raises(errors.Invalid):
        add(yaml.safe_dump(api.kubeconfig))


def test_new_keys_seal_again_and_old_ones_may_go(api: MockApi, settings: Any) -> None:
    site = add(yaml.safe_dump(api.kubeconfig))
    old = dict(settings.SEALING_KEYS)
    settings.SEALING_KEYS = {"k9": b"9" * 32, **old}
    assert (sites.reseal(), sites.reseal()) == (1, 0)
    settings.SEALING_KEYS = {"k9": b"9" * 32}
    assert ports.port(Site.objects.get(pk=site.pk)).version()
    settings.SEALING_KEYS = {"k8": b"8" * 32}
    ports._kubernetes.cache_clear()
    with pytest.raises(errors.Unavailable):
        ports.port(Site.objects.get(pk=site.pk))
    found = sites.check(site_id=site.pk, now=timezone.now())
    assert [one["code"] for one in found.findings] == ["unusable"]


def test_only_a_site_without_problems_is_sold_and_never_for_pretended_money(
    api: MockApi, settings: Any
) -> None:
    site = add(yaml.safe_dump(api.kubeconfig))
    settings.TEST_GATEWAY = False
    with pytest.raises(errors.InvalidState):
        sites.set_active(site_id=site.pk, active=True, actor=STAFF, now=timezone.now())
    Site.objects.update(checked_at=timezone.now(), findings=[])
    settings.TEST_GATEWAY = True
    with pytest.raises(errors.InvalidState):
        sites.set_active(site_id=site.pk, active=True, actor=STAFF, now=timezone.now())
    settings.TEST_GATEWAY = False
    assert sites.set_active(site_id=site.pk, active=True, actor=STAFF, now=timezone.now()).active


class Probe:
    """A site in good order."""

    said = "Kubernetes v1.33.2"
    versions: tuple[str, ...] = ("v1",)
    denied: frozenset[Permission] = frozenset()
    resources = {"nvidia.com/gpu": 64}
    classes = [StorageClass("shared", "nfs.csi.k8s.io", True), StorageClass("disk", "ebs.csi", False)]
    fault: k8s_errors.Error | None = None

    def version(self) -> str:
        if self.fault:
            raise self.fault
        return self.said

    def served_versions(self, group: str, resource: str) -> tuple[str, ...]:
        assert (group, resource) == ("kubeflow.org", "pytorchjobs")
        return self.versions

    def can(self, permissions: tuple[Permission, ...]) -> dict[Permission, bool]:
        return {one: one not in self.denied for one in permissions}

    def extended_resources(self) -> dict[str, int]:
        return self.resources

    def storage_classes(self) -> list[StorageClass]:
        return self.classes


CASES: list[tuple[dict[str, Any], dict[str, Any], str, str]] = [
    ({"said": "Kubernetes v1.28.9"}, {}, "old_version", "problem"),
    ({"said": "Kubernetes v1.29.0+k3s1"}, {}, "version", "ok"),
    ({"said": "Kubernetes v2.0.0"}, {}, "version", "ok"),
    ({"said": "Kubernetes unknown"}, {}, "odd_version", "warning"),
    ({"versions": ()}, {}, "no_operator", "problem"),
    ({"versions": ("v2alpha1",)}, {}, "operator_version", "problem"),
    ({"denied": frozenset(rights.NEEDED[:20])}, {}, "missing_rights", "problem"),
    ({"resources": {}}, {}, "no_gpus", "problem"),
    ({"resources": {"huawei.com/Ascend910": 8}}, {}, "other_gpus", "problem"),
    ({"resources": {"huawei.com/Ascend910": 8}}, {"gpu_resource": "huawei.com/Ascend910"}, "gpus", "ok"),
    ({"classes": []}, {}, "no_default_class", "problem"),
    ({"classes": [replace(Probe.classes[0], default=False)]}, {"storage_class": "shared"}, "storage", "ok"),
    ({}, {"storage_class": "fast"}, "no_such_class", "problem"),
    ({"fault": k8s_errors.Unavailable("timed out")}, {}, "unreachable", "problem"),
    ({"fault": k8s_errors.Unauthorised("no")}, {}, "unauthorised", "problem"),
    ({"fault": k8s_errors.Refused("no", reason="forbidden")}, {}, "forbidden", "problem"),
    ({"fault": k8s_errors.Conflict("odd")}, {}, "failed", "problem"),
]


@pytest.mark.parametrize(("probe", "fields", "code", "severity"), CASES, ids=[case[2] for case in CASES])
def test_what_a_check_finds(probe: dict[str, Any], fields: dict[str, Any], code: str, severity: str) -> None:
    asked = Probe()
    for name, value in probe.items():
        setattr(asked, name, value)
    found = site_checks.run(Site(slug="north", **fields), asked)
    assert (code, severity) in [(one.code, one.severity) for one in found]
    for one in found:
        said, _advice = site_words.finding(one.code, one.values)
        assert said
        assert "%(" not in said


def test_a_site_in_good_order_has_no_problem() -> None:
    found = site_checks.run(Site(slug="north"), Probe())
    assert [one.code for one in found] == ["version", "operator", "rights", "gpus", "storage"]


def test_a_check_that_new_access_overtook_says_nothing(api: MockApi, monkeypatch: pytest.MonkeyPatch) -> None:
    site = add(yaml.safe_dump(api.kubeconfig))

    def overtaken(_site: Site, _probe: site_checks.Probe) -> list[site_checks.Finding]:
        text = yaml.safe_dump(api.kubeconfig)
        sites.replace_access(site_id=site.pk, text=text, in_cluster=False, actor=STAFF, now=timezone.now())
        return [site_checks.Finding("version", "ok", {"version": "of the old access"})]

    monkeypatch.setattr(site_checks, "run", overtaken)
    found = sites.check(site_id=site.pk, now=timezone.now())
    assert (found.findings, found.checked_at) == ([], None)
