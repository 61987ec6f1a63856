"""What a job runs in and with: images, uploads, secrets."""

from django.conf import settings
from django.db import models

from accounts.models import Organisation
from clusters.models import Site
from core import ids
from core.tenancy import TenantManager


class Environment(models.Model):
    """An image that jobs run in, and the sites where it can be used."""

    id = ids.PublicIdField("env")
    slug = models.SlugField(max_length=60, unique=True, allow_unicode=False)
    title = models.CharField(max_length=100)
    framework = models.CharField(max_length=40)
    version = models.CharField(max_length=20)
    cuda = models.CharField(max_length=20, blank=True)
    image = models.CharField(max_length=300)
    backend = models.CharField(max_length=12, default="kubernetes")  # of the sites that can run it
    sites = models.ManyToManyField(Site, blank=True, related_name="environments")
    position = models.PositiveSmallIntegerField(default=0)
    is_default = models.BooleanField(default=False)

    def __str__(self) -> str:
        return self.title


class Upload(models.Model):
    """An archive of code on the storage, named by ``code.archive``."""

    id = ids.PublicIdField("upl")
    organisation = models.ForeignKey(Organisation, models.CASCADE, related_name="uploads")
    name = models.CharField(max_length=200)
    key = models.CharField(max_length=200)
    format = models.CharField(max_length=6)  # zip, tar.gz
    bytes = models.BigIntegerField()
    sha256 = models.CharField(max_length=64)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    idempotency_key = models.CharField(max_length=255, null=True, blank=True)
    created_at = models.DateTimeField()

    objects = TenantManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organisation", "idempotency_key"], name="upload_key_once")
        ]


class Secret(models.Model):
    """A value that jobs get as environment; write-only, sealed at rest."""

    id = ids.PublicIdField("sec")
    organisation = models.ForeignKey(Organisation, models.CASCADE, related_name="secrets")
    name = models.CharField(max_length=100)
    value = models.TextField()  # sealed
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    objects = TenantManager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["organisation", "name"], name="secret_once")]
