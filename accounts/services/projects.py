"""Projects: where jobs are counted together."""

import re
from datetime import datetime

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from accounts.models import Organisation, Project
from accounts.services import audit
from core import errors
from core.actors import Actor

SLUG = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?")


def create(
    *,
    organisation: Organisation,
    slug: str,
    name: str,
    actor: Actor,
    now: datetime,
    idempotency_key: str | None = None,
) -> Project:
    """Make a project, or return the one that this key made; its slug is the word that jobs name."""
    if idempotency_key:
        rows = Project.objects.for_org(organisation)
        if row := rows.filter(idempotency_key=idempotency_key).first():
            return row
    shown = name.strip() or slug
    if not SLUG.fullmatch(slug):
        raise errors.Invalid.field(
            "slug", "invalid", _("A slug has 1 to 40 small letters, digits and hyphens between them.")
        )
    if len(shown) > 100:
        raise errors.Invalid.field("name", "max_length", _("A name has at most 100 characters."))
    try:
        with transaction.atomic():
            project = Project.objects.create(
                organisation=organisation, slug=slug, name=shown, idempotency_key=idempotency_key
            )
            audit.record(
                actor=actor,
                action="project.created",
                target=project,
                organisation=organisation,
                after={"slug": slug, "name": shown},
                now=now,
            )
    except IntegrityError as error:
        raise errors.Conflict(
            _("There is a project {slug} already.").format(slug=slug), code="exists"
        ) from error
    return project
