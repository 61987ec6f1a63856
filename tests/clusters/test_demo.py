"""The demo catalogue: seeded twice it is the same, and its figures keep the rules of the facts."""

from pathlib import Path
from typing import Any

import pytest

from clusters import catalogue_data
from clusters.models import GpuModel, Node, NodeType, Site
from clusters.services import demo, ports
from tests.support.fleet import DAY, NOW

pytestmark = pytest.mark.django_db


def test_seeding_twice_changes_nothing(settings: Any, tmp_path: Path) -> None:
    settings.EMBEDDED_SITE, settings.EMBEDDED_DIR = True, tmp_path
    for _ in range(2):
        demo.seed(now=NOW)
        ids = sorted(Node.objects.values_list("id", flat=True))
        site = Site.objects.get()
        assert (site.slug, site.backend) == ("local", "embedded")
        assert "embedded" in site.name.lower()
        listed = {node.name: node.gpus for node in ports.port(site).list_nodes()}
        assert listed == {n.name: n.node_type.gpus_per_node for n in Node.objects.select_related("node_type")}
    demo.seed(now=NOW + DAY)
    assert sorted(Node.objects.values_list("id", flat=True)) == ids


def test_without_the_embedded_site_there_is_a_catalogue_and_no_node(settings: Any) -> None:
    settings.EMBEDDED_SITE = False
    demo.seed(now=NOW)
    assert NodeType.objects.count() == len(catalogue_data.NODE_TYPES)
    assert not Node.objects.exists()
    assert not Site.objects.exists()


def test_figures() -> None:
    demo.seed(now=NOW)
    t4 = GpuModel.objects.get(slug="t4")
    assert (t4.bf16_tflops, t4.fp16_tflops, t4.fp8_tflops) == (None, 65, None)
    h100 = GpuModel.objects.get(slug="h100-sxm")
    assert (h100.bf16_tflops, h100.fp8_tflops, h100.link_gbs) == (989, 1979, 900)
    ascend = GpuModel.objects.get(slug="ascend-910b")
    assert (ascend.official, ascend.memory_gb, ascend.bf16_tflops) == (False, 64, 313)
    assert list(GpuModel.objects.exclude(official=True)) == [ascend]
    assert all(model.source for model in GpuModel.objects.all())
    assert {t.gpus_per_node for t in NodeType.objects.all()} == {1, 2, 4, 8}


def test_most_types_can_be_rented_eight_at_a_time() -> None:
    fits = [slug for slug, sizes in catalogue_data.EMBEDDED_NODES.items() if max(sizes) >= 8]
    assert len(fits) > len(catalogue_data.NODE_TYPES) / 2
    assert catalogue_data.EMBEDDED_NODES.keys() == {row["slug"] for row in catalogue_data.NODE_TYPES}
