"""The objects of a cluster: closed to other tenants, bounded, and free of what a customer typed."""

import json
from typing import Any

from clusters import desired
from k8s import admission

PLAN = desired.Plan(
    namespace="clu-01k",
    name='训练 🚀 "a.b"/..',
    organisation="org_1",
    nodes=4,
    gpus=32,
    gpu_resource="x.com/gpu",
)


def by_kind() -> dict[tuple[str, str], dict[str, Any]]:
    return {(o["kind"], o["metadata"]["name"]): o for o in desired.objects(PLAN)}


def test_every_object_is_admitted_and_labelled() -> None:
    objects = desired.objects(PLAN)
    assert objects[0]["kind"] == "Namespace"
    for obj in objects:
        admission.admit(obj)
        assert obj["metadata"]["labels"]["berth.dev/cluster"] == "clu-01k"


def test_user_text_goes_into_annotations_only() -> None:
    namespace, *others = desired.objects(PLAN)
    assert namespace["metadata"].pop("annotations")["berth.dev/name"] == PLAN.name
    assert "训练" not in json.dumps([namespace, *others], ensure_ascii=False)


def test_the_quota_counts_the_gpus_that_were_rented() -> None:
    hard = by_kind()["ResourceQuota", "berth"]["spec"]["hard"]
    assert hard["requests.x.com/gpu"] == "32"
    assert hard["services.nodeports"] == "0"


def test_pod_security_is_enforced() -> None:
    labels = by_kind()["Namespace", "clu-01k"]["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "baseline"
    assert labels["pod-security.kubernetes.io/warn"] == "restricted"


def test_other_tenants_and_the_metadata_address_are_out_of_reach() -> None:
    spec = by_kind()["NetworkPolicy", "berth"]["spec"]
    assert spec["policyTypes"] == ["Ingress", "Egress"]
    assert spec["podSelector"] == {}
    assert spec["ingress"] == [{"from": [{"podSelector": {}}]}]
    blocks = [to["ipBlock"] for rule in spec["egress"] for to in rule["to"] if "ipBlock" in to]
    assert "169.254.0.0/16" in blocks[0]["except"]
    assert "10.0.0.0/8" in blocks[0]["except"]


def test_pods_get_no_token() -> None:
    assert by_kind()["ServiceAccount", "default"]["automountServiceAccountToken"] is False
