"""Writes what belongs to a person alone: name, language, theme, present organisation."""

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import User
from accounts.services import audit
from core import errors
from core.actors import Actor

PREFERENCES = frozenset({"language", "theme", "last_organisation"})


def prefer(*, user: User, **preferences: str) -> None:
    """Remember a preference; it changes what is shown only, so it leaves no audit row."""
    if unknown := preferences.keys() - PREFERENCES:
        raise ValueError(f"not a preference: {sorted(unknown)}")
    User.objects.filter(pk=user.pk).update(**preferences)
    for name, value in preferences.items():
        setattr(user, name, value)


def rename(*, user: User, name: str, actor: Actor, now: datetime) -> None:
    """Change a person's name."""
    wanted = name.strip()
    if len(wanted) > 100:
        raise errors.Invalid.field("name", "max_length", _("A name has at most 100 characters."))
    with transaction.atomic():
        before = User.objects.select_for_update().get(pk=user.pk)
        if before.name == wanted:
            return
        User.objects.filter(pk=user.pk).update(name=wanted)
        audit.record(
            actor=actor,
            action="user.renamed",
            target=user,
            organisation=None,
            before={"name": before.name},
            after={"name": wanted},
            now=now,
        )
    user.name = wanted
