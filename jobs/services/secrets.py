"""Values that jobs get as environment: written once, sealed at rest, read only by the launch of a job."""

import re
from collections.abc import Iterable
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.access import Access
from accounts.services import audit
from core import errors, resealing, sealing
from jobs.jobspec import reader
from jobs.models import Secret

MAX_BYTES = 64 * 1024
MAX_COUNT = 500
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")


def put(*, access: Access, name: str, value: str, now: datetime) -> Secret:
    """Store a secret under a name, or replace its value; nobody reads it back."""
    access.require("jobs:write")
    if not _NAME.fullmatch(name):
        raise errors.Invalid.field(
            "name",
            "invalid_name",
            _("Letters, digits and _ only, at most 100, not starting with a digit."),
        )
    if name in reader.RESERVED_ENV or name.startswith(reader.RESERVED_ENV_PREFIX):
        raise errors.Invalid.field(
            "name", "reserved_env", _("This variable is set by Berth or the training operator.")
        )
    raw = value.encode()
    if len(raw) > MAX_BYTES:
        raise errors.Invalid.field("value", "too_large", _("At most 64 KiB; put more into a file in /data."))
    with transaction.atomic():
        # The organisation's secrets are few; counting them under a lock is not worth one.
        if Secret.objects.for_org(access.organisation).count() >= MAX_COUNT:
            raise errors.Invalid.field("name", "max", _("At most 500 secrets; delete one first."))
        secret, made = Secret.objects.get_or_create(
            organisation=access.organisation,
            name=name,
            defaults={"value": "", "created_by": access.user, "created_at": now, "updated_at": now},
        )
        secret.value = sealing.seal(raw, context=_context(secret.pk))
        secret.updated_at = now
        secret.save(update_fields=["value", "updated_at"])
        audit.record(
            actor=access.actor,
            action="secret.created" if made else "secret.replaced",
            target=secret,
            organisation=access.organisation,
            after={"name": name},
            now=now,
        )
    return secret


def delete(*, access: Access, name: str, now: datetime) -> None:
    """Delete a secret; jobs that name it can no longer be launched, running ones keep their copy."""
    access.require("jobs:write")
    with transaction.atomic():
        secret = Secret.objects.for_org(access.organisation).select_for_update().filter(name=name).first()
        if secret is None:
            raise errors.NotFound(_("There is no secret of this name."))
        audit.record(
            actor=access.actor,
            action="secret.deleted",
            target=secret,
            organisation=access.organisation,
            before={"name": name},
            now=now,
        )
        secret.delete()


def values(organisation_id: str, names: Iterable[str]) -> dict[str, str]:
    """Return the values of secrets by name, for the launch; names that are not there are left out."""
    rows = Secret.objects.filter(organisation_id=organisation_id, name__in=list(names))
    return {row.name: sealing.unseal(row.value, context=_context(row.pk)).decode() for row in rows}


def reseal() -> int:
    """Seal values anew that an older key sealed; return how many."""
    return resealing.rows(Secret.objects.all(), "value", lambda secret: _context(secret.pk))


def _context(secret_id: str) -> str:
    return f"secret:{secret_id}"
