"""The customer: an organisation, its members with one role each, invitations and projects."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from core import ids
from core.money import CURRENCIES
from core.tenancy import TenantManager


class Role(models.TextChoices):
    """What a member may do: the table stands in accounts/rights.py."""

    OWNER = "owner", _("Owner")
    ADMIN = "admin", _("Admin")
    DEVELOPER = "developer", _("Developer")
    BILLING = "billing", _("Billing")
    VIEWER = "viewer", _("Viewer")


class Organisation(models.Model):
    """A customer. Zone and currency are fixed once the first order stands (``terms_fixed_at``)."""

    id = ids.PublicIdField("org")
    name = models.CharField(_("name"), max_length=100)
    zone = models.CharField(_("time zone"), max_length=64, default="Asia/Shanghai")
    currency = models.CharField(
        _("currency"), max_length=3, default="CNY", choices=[(c, c) for c in CURRENCIES]
    )
    country = models.CharField(_("country"), max_length=2, default="CN")
    address = models.TextField(_("billing address"), blank=True)
    tax_id = models.CharField(_("tax number"), max_length=40, blank=True)
    credit_line = models.BigIntegerField(default=0)  # minor units; set by staff
    terms_fixed_at = models.DateTimeField(null=True, blank=True)
    idempotency_key = models.CharField(max_length=255, null=True, blank=True)  # of its making
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["idempotency_key"], name="organisation_key_once")]

    def __str__(self) -> str:
        return self.name


class Member(models.Model):
    """A person in an organisation, with one role."""

    id = ids.PublicIdField("mem")
    organisation = models.ForeignKey(Organisation, models.CASCADE, related_name="members")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role.choices)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = TenantManager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["organisation", "user"], name="member_once")]


class Invitation(models.Model):
    """An address that may join with a role; the secret of the link is stored hashed."""

    id = ids.PublicIdField("ivt")
    organisation = models.ForeignKey(Organisation, models.CASCADE, related_name="invitations")
    email = models.EmailField(max_length=254)
    role = models.CharField(max_length=10, choices=Role.choices)
    secret_hash = models.CharField(max_length=64, unique=True)
    invited_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = TenantManager()


class Project(models.Model):
    """Where jobs are counted together; every organisation has ``default``."""

    id = ids.PublicIdField("prj")
    organisation = models.ForeignKey(Organisation, models.CASCADE, related_name="projects")
    slug = models.SlugField(max_length=40)
    name = models.CharField(_("name"), max_length=100)
    idempotency_key = models.CharField(max_length=255, null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = TenantManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organisation", "slug"], name="project_slug_once"),
            models.UniqueConstraint(fields=["organisation", "idempotency_key"], name="project_key_once"),
        ]

    def __str__(self) -> str:
        return self.name
