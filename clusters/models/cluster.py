"""What a customer rents: n nodes of one type at one site for a period."""

from django.conf import settings
from django.db import models

from accounts.models import Organisation
from clusters import states, words
from clusters.models.catalogue import NodeType
from clusters.models.fleet import Site
from core import ids
from core.tenancy import TenantManager


class Cluster(models.Model):
    """A rented cluster. ``due_at`` is when the beat must look at it next; null in final states."""

    id = ids.PublicIdField("clu")
    organisation = models.ForeignKey(Organisation, models.PROTECT, related_name="clusters", db_index=False)
    name = models.CharField(max_length=100)
    site = models.ForeignKey(Site, models.PROTECT, related_name="clusters")
    node_type = models.ForeignKey(NodeType, models.PROTECT, related_name="+")
    nodes = models.PositiveIntegerField()
    gpus_used = models.IntegerField(default=0)  # by running jobs; the queue of jobs keeps it
    status = models.CharField(max_length=12, choices=states.CLUSTER.choices(), default="held")
    message = models.CharField(max_length=300, blank=True)  # a code of words.py, or text
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    anchor_day = models.PositiveSmallIntegerField()  # local day on which the lease first counted months
    hold_expires_at = models.DateTimeField(null=True, blank=True)
    ready_at = models.DateTimeField(null=True, blank=True)
    released_at = models.DateTimeField(null=True, blank=True)
    state_since = models.DateTimeField()
    due_at = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveIntegerField(default=0)
    claim_token = models.CharField(max_length=32, blank=True)
    claim_until = models.DateTimeField(null=True, blank=True)
    auto_renew = models.BooleanField(default=False)
    warned_at = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField()

    objects = TenantManager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(nodes__gt=0), name="cluster_has_nodes"),
            models.CheckConstraint(
                condition=models.Q(ends_at__gt=models.F("starts_at")), name="cluster_span"
            ),
        ]
        indexes = [
            models.Index(fields=["organisation", "-id"], name="cluster_by_org"),
            models.Index(fields=["due_at"], name="cluster_due", condition=models.Q(due_at__isnull=False)),
            models.Index(fields=["id"], name="cluster_draining", condition=models.Q(status="draining")),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def object_name(self) -> str:
        """The namespace of this cluster at its site."""
        return ids.object_name(self.pk)

    @property
    def message_text(self) -> str:
        """What a customer reads beside the state, in the language of the moment."""
        return words.message(self.message)


class ClusterEvent(models.Model):
    """The timeline of a cluster, oldest first."""

    id = ids.PublicIdField("cev")
    cluster = models.ForeignKey(Cluster, models.CASCADE, related_name="events", db_index=False)
    at = models.DateTimeField()
    kind = models.CharField(max_length=40)
    actor = models.CharField(max_length=254)
    message = models.CharField(max_length=300)

    class Meta:
        indexes = [models.Index(fields=["cluster", "id"], name="cluster_event_order")]

    @property
    def text(self) -> str:
        """What a timeline shows, in the language of the moment."""
        return words.event(self.kind, self.message)
