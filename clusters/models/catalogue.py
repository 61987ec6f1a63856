"""What can be rented: chips and server types."""

from django.db import models

from core import ids


class GpuModel(models.Model):
    """A chip. TFLOPS are dense; a figure that nobody states is null, never zero."""

    id = ids.PublicIdField("gpu")
    slug = models.SlugField(max_length=40, unique=True)
    name = models.CharField(max_length=60)
    vendor = models.CharField(max_length=40)
    memory_gb = models.PositiveIntegerField()
    memory_type = models.CharField(max_length=20, blank=True)
    bandwidth_gbs = models.PositiveIntegerField(null=True)
    fp16_tflops = models.DecimalField(max_digits=7, decimal_places=1, null=True)
    bf16_tflops = models.DecimalField(max_digits=7, decimal_places=1, null=True)
    fp8_tflops = models.DecimalField(max_digits=7, decimal_places=1, null=True)
    tf32_tflops = models.DecimalField(max_digits=7, decimal_places=1, null=True)
    fp32_tflops = models.DecimalField(max_digits=7, decimal_places=1, null=True)
    link_gbs = models.PositiveIntegerField(null=True)  # GPU to GPU, both directions summed
    link_name = models.CharField(max_length=40, blank=True)
    power_watts = models.PositiveIntegerField(null=True)
    official = models.BooleanField(default=True)  # False: no datasheet of the vendor says so
    source = models.CharField(max_length=300)
    position = models.PositiveSmallIntegerField(default=0)

    def __str__(self) -> str:
        return self.name


class NodeType(models.Model):
    """A server type: chips × count with what surrounds them."""

    id = ids.PublicIdField("nt")
    slug = models.SlugField(max_length=40, unique=True)
    gpu_model = models.ForeignKey(GpuModel, models.PROTECT, related_name="node_types")
    gpus_per_node = models.PositiveSmallIntegerField()
    vcpus = models.PositiveSmallIntegerField()
    memory_gb = models.PositiveIntegerField()
    nvme_tb = models.DecimalField(max_digits=6, decimal_places=2)
    interconnect = models.CharField(max_length=60)  # inside the node
    fabric = models.CharField(max_length=60)  # between nodes
    spans_domains = models.BooleanField(default=False)  # may a cluster lie in several fabric domains
    offered = models.BooleanField(default=True)
    position = models.PositiveSmallIntegerField(default=0)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(gpus_per_node__gt=0), name="node_type_has_gpus")
        ]

    def __str__(self) -> str:
        return self.slug
