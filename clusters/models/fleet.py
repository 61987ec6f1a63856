"""Sites and their nodes."""

from django.db import models

from clusters import states
from clusters.models.catalogue import NodeType
from core import ids


class Site(models.Model):
    """One Kubernetes control plane in one place, with its nodes."""

    id = ids.PublicIdField("site")
    slug = models.SlugField(max_length=40, unique=True)
    name = models.CharField(max_length=60)
    backend = models.CharField(
        max_length=12, choices=[("kubernetes", "kubernetes"), ("embedded", "embedded")]
    )
    country = models.CharField(max_length=2, default="CN")
    city = models.CharField(max_length=60, blank=True)
    zone = models.CharField(max_length=64, default="Asia/Shanghai")
    gpu_resource = models.CharField(max_length=60, default="nvidia.com/gpu")
    storage_class = models.CharField(max_length=100, blank=True)  # empty: the default of the site
    in_cluster = models.BooleanField(default=False)  # the account of the pod that Berth runs in
    kubeconfig = models.TextField(blank=True)  # sealed, see clusters/services/sites.py
    server = models.CharField(max_length=300, blank=True)
    findings = models.JSONField(default=list)  # codes with values, newest check
    checked_at = models.DateTimeField(null=True, blank=True)
    active = models.BooleanField(default=True)

    def __str__(self) -> str:
        return self.name


class Node(models.Model):
    """One physical server; its states are in clusters/states.py. Locked through its (site, type) pool."""

    id = ids.PublicIdField("node")
    site = models.ForeignKey(Site, models.PROTECT, related_name="nodes")
    node_type = models.ForeignKey(NodeType, models.PROTECT, related_name="nodes")
    name = models.CharField(max_length=63)
    fabric_domain = models.CharField(max_length=40, default="default")
    rack = models.CharField(max_length=40, blank=True)
    state = models.CharField(max_length=12, choices=states.NODE.choices(), default="available")
    state_reason = models.CharField(max_length=200, blank=True)
    state_since = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["site", "name"], name="node_name_once")]
        indexes = [models.Index(fields=["site", "node_type", "state"], name="node_pool")]

    def __str__(self) -> str:
        return self.name
