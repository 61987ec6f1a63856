"""Organisations: made at sign-up with an owner and a default project; their data."""

import zoneinfo
from collections.abc import Mapping
from datetime import datetime
from functools import cache

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from accounts.models import Member, Organisation, Project, User
from accounts.models.organisation import Role
from accounts.services import audit
from core import errors
from core.actors import Actor
from core.money import CURRENCIES

DEFAULT_PROJECT = "default"
FIELDS = ("name", "zone", "currency", "country", "address", "tax_id")
FIXED_BY_ORDER = ("zone", "currency")
LONGEST_ADDRESS = 1000


def create(
    *,
    name: str,
    owner: User,
    actor: Actor,
    now: datetime,
    zone: str = "Asia/Shanghai",
    currency: str = "CNY",
    idempotency_key: str | None = None,
) -> Member:
    """Make an organisation with its owner and default project; return the owner's membership.

    A repeat with the key that made one returns the same.
    """
    values = {"name": name.strip(), "zone": zone, "currency": currency}
    _check(values)
    try:
        return _create(values, owner, actor, idempotency_key, now)
    except IntegrityError:
        found = Member.objects.filter(user=owner, organisation__idempotency_key=idempotency_key).first()
        if idempotency_key is None or found is None:
            raise
        return found


def _create(
    values: dict[str, str], owner: User, actor: Actor, idempotency_key: str | None, now: datetime
) -> Member:
    with transaction.atomic():
        made = Organisation.objects.create(**values, idempotency_key=idempotency_key)
        Project.objects.create(organisation=made, slug=DEFAULT_PROJECT, name="Default")
        member = Member.objects.create(organisation=made, user=owner, role=Role.OWNER)
        audit.record(
            actor=actor,
            action="organisation.created",
            target=made,
            organisation=made,
            after={**values, "owner": owner.email},
            now=now,
        )
    return member


def update(
    *, organisation: Organisation, changes: Mapping[str, str], actor: Actor, now: datetime
) -> Organisation:
    """Change name or billing data; zone and currency stay once the first order stands."""
    wanted = {name: value.strip() for name, value in changes.items()}
    if unknown := wanted.keys() - set(FIELDS):
        raise ValueError(f"not a field of an organisation: {sorted(unknown)}")
    _check(wanted)
    with transaction.atomic():
        row = Organisation.objects.select_for_update().get(pk=organisation.pk)
        before = {name: getattr(row, name) for name, value in wanted.items() if getattr(row, name) != value}
        for name in FIXED_BY_ORDER:
            if name in before and row.terms_fixed_at is not None:
                raise errors.Invalid.field(
                    name, "fixed", _("Time zone and currency are fixed since the first order.")
                )
        if before:
            after = {name: wanted[name] for name in before}
            for name, value in after.items():
                setattr(row, name, value)
            row.save(update_fields=list(after))
            audit.record(
                actor=actor,
                action="organisation.updated",
                target=row,
                organisation=row,
                before=before,
                after=after,
                now=now,
            )
    return row


@cache
def zones() -> frozenset[str]:
    """Return the names of time zones that an organisation may choose."""
    return frozenset(name for name in zoneinfo.available_timezones() if "/" in name or name == "UTC")


def _check(values: Mapping[str, str]) -> None:
    faults = []
    if "name" in values and not 1 <= len(values["name"]) <= 100:
        faults.append(("name", "length", _("An organisation's name has 1 to 100 characters.")))
    if "zone" in values and values["zone"] not in zones():
        faults.append(("zone", "unknown", _("There is no such time zone; write it as Asia/Shanghai.")))
    if "currency" in values and values["currency"] not in CURRENCIES:
        faults.append(("currency", "unknown", _("We invoice in CNY and USD.")))
    country = values.get("country", "CN")
    if not (len(country) == 2 and country.isascii() and country.isalpha() and country.isupper()):
        faults.append(("country", "invalid", _("Write the country as two capital letters, such as CN.")))
    if len(values.get("address", "")) > LONGEST_ADDRESS:
        faults.append(("address", "max_length", _("The address is too long.")))
    if len(values.get("tax_id", "")) > 40:
        faults.append(("tax_id", "max_length", _("The tax number is too long.")))
    if faults:
        found = [errors.FieldError(*fault) for fault in faults]
        raise errors.Invalid(found[0].detail, errors=found)
