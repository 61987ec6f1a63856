"""Tenancy by construction: rows of customers are reached through their organisation."""

from typing import Any, TypeVar

from django.db import models

from core import errors

Row = TypeVar("Row", bound=models.Model)


class TenantQuerySet(models.QuerySet[Row]):
    """A queryset that knows whose rows it holds."""

    def for_org(self, organisation: Any) -> "TenantQuerySet[Row]":
        """Return the rows of one organisation."""
        return self.filter(organisation=organisation)

    def get_or_404(self, pk: str) -> Row:
        """Return one row, or raise the NotFound that a stranger sees too."""
        row = self.filter(pk=pk).first()
        if row is None:
            raise errors.NotFound("There is nothing here under this id, or it is not yours.")
        return row


TenantManager = models.Manager.from_queryset(TenantQuerySet)
