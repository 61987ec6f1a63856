"""Who may do what: Berth's own account nothing, the tenant manager the table of rights and no more."""

from typing import Any

import pytest

from k8s import rights
from tests.deploy.conftest import FOLDER
from tests.support import kustomize

SPEAK_TO_SITES = {"web", "worker", "watcher", "collector"}


def _rules(folder: str) -> list[dict[str, Any]]:
    roles = [one for one in kustomize.build(FOLDER / folder) if one["kind"] in {"Role", "ClusterRole"}]
    return [rule for role in roles for rule in role["rules"]]


def _granted(rules: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    return [
        (verb, group, resource)
        for rule in rules
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    ]


def test_the_tenant_manager_may_do_what_the_table_says() -> None:
    granted = _granted(_rules("tenant-manager"))
    needed = {
        (one.verb, one.group, f"{one.resource}/{one.subresource}" if one.subresource else one.resource)
        for one in rights.NEEDED
    }
    assert set(granted) == needed
    assert len(granted) == len(set(granted))


@pytest.mark.parametrize("folder", ["small", "production", "site"])
def test_no_role_says_everything(folder: str) -> None:
    for rule in _rules(folder):
        assert set(rule) == {"apiGroups", "resources", "verbs"}
        assert "*" not in {*rule["apiGroups"], *rule["resources"], *rule["verbs"]}
        assert not {"escalate", "bind", "impersonate", "deletecollection"} & set(rule["verbs"])


@pytest.mark.parametrize("folder", ["small", "production", "site"])
def test_secrets_are_a_matter_of_the_tenant_manager_alone(folder: str) -> None:
    """It makes one for each run; who else could read all of them would not need Berth."""
    for one in kustomize.build(FOLDER / folder):
        if one["kind"] in {"Role", "ClusterRole"} and one["metadata"]["name"] != "berth-tenant-manager":
            assert all("secrets" not in rule["resources"] for rule in one["rules"])


def test_production_holds_no_account_of_a_site() -> None:
    built = kustomize.build(FOLDER / "production")
    kinds = {one["kind"] for one in built}
    assert not {"Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"} & kinds
    for one in built:
        if (spec := kustomize.pod(one)) is not None:
            assert (spec["serviceAccountName"], spec["automountServiceAccountToken"]) == ("berth", False)


def test_on_one_cluster_only_who_speaks_to_sites_holds_the_account() -> None:
    built = kustomize.build(FOLDER / "small")
    (binding,) = (one for one in built if one["kind"] == "ClusterRoleBinding")
    assert binding["roleRef"]["name"] == "berth-tenant-manager"
    assert [subject["name"] for subject in binding["subjects"]] == ["berth-tenant-manager"]
    for one in built:
        if (spec := kustomize.pod(one)) is not None:
            manager = one["metadata"]["name"] in SPEAK_TO_SITES
            wanted = ("berth-tenant-manager" if manager else "berth", manager)
            assert (spec["serviceAccountName"], spec["automountServiceAccountToken"]) == wanted


def test_no_account_is_mounted_by_default() -> None:
    for folder in ("small", "production", "site"):
        for one in kustomize.build(FOLDER / folder):
            if one["kind"] == "ServiceAccount":
                assert one["automountServiceAccountToken"] is False
