"""A person who signs in with an address of electronic mail."""

from typing import Any, ClassVar

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager, PermissionsMixin
from django.db import models
from django.db.models.functions import Lower
from django.utils.translation import gettext_lazy as _

from core import ids


class UserManager(BaseUserManager["User"]):
    """Makes people."""

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> "User":
        """Return a new person with a hashed password, or one that cannot sign in by password."""
        user = self.model(email=self.normalize_email(email).lower(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> "User":
        """Return a new member of staff with every right."""
        return self.create_user(email, password, is_staff=True, is_superuser=True, **fields)


class User(AbstractBaseUser, PermissionsMixin):
    """Customers' people and staff; staff are separate accounts with groups capacity, finance, support."""

    id = ids.PublicIdField("usr")
    email = models.EmailField(_("email address"), max_length=254, unique=True)
    name = models.CharField(_("name"), max_length=100, blank=True)
    language = models.CharField(max_length=10, blank=True)
    theme = models.CharField(max_length=10, blank=True)
    is_staff = models.BooleanField(default=False)
    is_active = models.BooleanField(default=True)
    last_organisation = models.CharField(max_length=40, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []
    objects = UserManager()

    class Meta:
        constraints = [models.UniqueConstraint(Lower("email"), name="user_email_once")]

    def __str__(self) -> str:
        return self.name or self.email
