"""The demo catalogue: chips, server types and, where the embedded site is on, its nodes. Again is no harm."""

from datetime import datetime

from django.conf import settings

from clusters import catalogue_data
from clusters.models import GpuModel, Node, NodeType, Site
from clusters.services import ports

SITE_SLUG = "local"


def seed(*, now: datetime) -> None:
    """Write the catalogue, and the embedded site with its nodes when this installation has one."""
    models = _gpu_models()
    types = _node_types(models)
    if settings.EMBEDDED_SITE:
        _embedded_site(types, now)


def _gpu_models() -> dict[str, GpuModel]:
    found = {}
    for position, row in enumerate(catalogue_data.GPU_MODELS):
        model, _made = GpuModel.objects.update_or_create(
            slug=row["slug"], defaults={**row, "position": position}
        )
        found[model.slug] = model
    return found


def _node_types(models: dict[str, GpuModel]) -> dict[str, NodeType]:
    found = {}
    for position, row in enumerate(catalogue_data.NODE_TYPES):
        fields = {key: value for key, value in row.items() if key != "gpu"}
        kind, _made = NodeType.objects.update_or_create(
            slug=row["slug"], defaults={**fields, "gpu_model": models[row["gpu"]], "position": position}
        )
        found[kind.slug] = kind
    return found


def _embedded_site(types: dict[str, NodeType], now: datetime) -> None:
    site, _made = Site.objects.update_or_create(
        slug=SITE_SLUG,
        defaults={
            "name": "Embedded site on this machine",
            "backend": "embedded",
            "country": "CN",
            "city": "",
            "active": True,
        },
    )
    known = set(Node.objects.filter(site=site).values_list("name", flat=True))
    rows = []
    port = ports.embedded()
    for slug, domains in catalogue_data.EMBEDDED_NODES.items():
        for number, size in enumerate(domains, 1):
            domain = f"{slug}-{number}"
            for index in range(1, size + 1):
                name = f"{domain}-{index:02d}"
                port.ensure_node(name, gpus=types[slug].gpus_per_node, fabric=domain)
                if name not in known:
                    rows.append(
                        Node(
                            site=site,
                            node_type=types[slug],
                            name=name,
                            fabric_domain=domain,
                            rack=f"R{number:02d}",
                            state_since=now,
                        )
                    )
    Node.objects.bulk_create(rows)
