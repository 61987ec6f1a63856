"""Shapes of the catalogue and of clusters; `billing` adds prices to a server type."""

from typing import Any

from rest_framework import serializers

from clusters import reads, states
from clusters.models import Cluster, GpuModel, NodeType, Site
from core.rest.fields import ZTime
from core.rest.serializers import StrictSerializer

LONGEST_NAME = 100


class SiteSerializer(serializers.ModelSerializer[Site]):
    """A place with servers; ``embedded`` runs jobs as processes of the portal's own machine."""

    backend = serializers.ChoiceField(choices=["kubernetes", "embedded"])
    zone = serializers.CharField(help_text="Time zone of the place.")

    class Meta:
        model = Site
        fields = ["id", "slug", "name", "backend", "country", "city", "zone"]


class GpuModelSerializer(serializers.ModelSerializer[GpuModel]):
    """A chip. TFLOPS are dense; null where no source states a figure."""

    fp16_tflops = serializers.FloatField(allow_null=True)
    bf16_tflops = serializers.FloatField(allow_null=True)
    fp8_tflops = serializers.FloatField(allow_null=True)
    tf32_tflops = serializers.FloatField(allow_null=True)
    fp32_tflops = serializers.FloatField(allow_null=True)
    link_gbs = serializers.IntegerField(
        allow_null=True, help_text="GB/s from GPU to GPU, both directions summed."
    )
    official = serializers.BooleanField(help_text="False: the vendor publishes no datasheet with these.")

    class Meta:
        model = GpuModel
        fields = [
            "id",
            "slug",
            "name",
            "vendor",
            "memory_gb",
            "memory_type",
            "bandwidth_gbs",
            "fp16_tflops",
            "bf16_tflops",
            "fp8_tflops",
            "tf32_tflops",
            "fp32_tflops",
            "link_gbs",
            "link_name",
            "power_watts",
            "official",
            "source",
        ]


class NodeTypeSerializer(serializers.ModelSerializer[NodeType]):
    """A server type; give ``context["site_slugs"]`` from ``catalogue.site_slugs()``."""

    gpu_model = GpuModelSerializer()
    nvme_tb = serializers.FloatField()
    sites = serializers.SerializerMethodField()

    class Meta:
        model = NodeType
        fields = [
            "id",
            "slug",
            "gpu_model",
            "gpus_per_node",
            "vcpus",
            "memory_gb",
            "nvme_tb",
            "interconnect",
            "fabric",
            "sites",
        ]

    def get_sites(self, node_type: NodeType) -> list[str]:
        """Return the slugs of sites that have servers of this type."""
        found: list[str] = self.context["site_slugs"].get(node_type.pk, [])
        return found


class AvailabilitySerializer(serializers.Serializer[Any]):
    """What a booking would find now."""

    available = serializers.BooleanField()
    free_nodes = serializers.IntegerField(help_text="Nodes that are free for the whole span.")
    largest = serializers.IntegerField(help_text="How many of them one cluster could take.")
    next_start = ZTime(allow_null=True, help_text="Earliest start for as long; null: never so many.")


class AvailabilityQuery(serializers.Serializer[Any]):
    """The question; times default to a day from now."""

    node_type = serializers.CharField(max_length=60)
    site = serializers.CharField(max_length=60)
    nodes = serializers.IntegerField(min_value=1, max_value=100_000, default=1)
    starts_at = ZTime(required=False)
    ends_at = ZTime(required=False)


class ClusterSerializer(serializers.ModelSerializer[Cluster]):
    """What a customer rents."""

    status = serializers.ChoiceField(choices=list(states.CLUSTER.states))
    site = serializers.CharField(source="site.slug")
    node_type = serializers.CharField(source="node_type.slug")
    gpus = serializers.SerializerMethodField()
    starts_at = ZTime()
    ends_at = ZTime()
    ready_at = ZTime(allow_null=True)
    released_at = ZTime(allow_null=True)
    hold_expires_at = ZTime(allow_null=True)
    free_gpus = serializers.SerializerMethodField(help_text="GPUs that a job could take now.")
    message = serializers.CharField(source="message_text")

    class Meta:
        model = Cluster
        fields = [
            "id",
            "name",
            "status",
            "site",
            "node_type",
            "nodes",
            "gpus",
            "starts_at",
            "ends_at",
            "ready_at",
            "released_at",
            "hold_expires_at",
            "free_gpus",
            "auto_renew",
            "message",
        ]

    def get_gpus(self, cluster: Cluster) -> int:
        """Return all GPUs of the cluster."""
        return reads.gpus(cluster)

    def get_free_gpus(self, cluster: Cluster) -> int:
        """Return those that no job has."""
        return reads.free_gpus(cluster)


class ClusterPatchSerializer(StrictSerializer):
    """What may be changed."""

    name = serializers.CharField(max_length=LONGEST_NAME, required=False)
    auto_renew = serializers.BooleanField(required=False)


class ClusterFilters(serializers.Serializer[Any]):
    """Filters of the list, named as the fields."""

    status = serializers.ChoiceField(choices=list(states.CLUSTER.states), required=False)
    site = serializers.CharField(max_length=60, required=False)
    node_type = serializers.CharField(max_length=60, required=False)
