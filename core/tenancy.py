"""Tenancy by construction: rows of customers are reached through their organisation."""

from __future__ import annotations

from typing import Any, Self, TypeVar

from django.db import models
from django.utils.translation import gettext as _

from core import errors

Row = TypeVar("Row", bound=models.Model)


class TenantQuerySet(models.QuerySet[Row]):
    """A queryset that knows whose rows it holds."""

    def for_org(self, organisation: Any) -> Self:
        """Return the rows of one organisation."""
        return self.filter(organisation=organisation)

    def get_or_404(self, pk: str) -> Row:
        """Return one row, or raise the NotFound that a stranger sees too."""
        row = self.filter(pk=pk).first()
        if row is None:
            raise errors.NotFound(_("There is nothing here under this id, or it is not yours."))
        return row


class TenantManager(models.Manager[Row]):
    """The manager of every row that belongs to a customer."""

    def get_queryset(self) -> TenantQuerySet[Row]:
        """Return the rows of all organisations: services and tasks that know what they do."""
        return TenantQuerySet(self.model, using=self._db)

    def for_org(self, organisation: Any) -> TenantQuerySet[Row]:
        """Return the rows of one organisation."""
        return self.get_queryset().for_org(organisation)
