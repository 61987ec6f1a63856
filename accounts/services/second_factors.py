"""Secrets of second factors, which allauth keeps sealed inside a JSON field."""

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.db import transaction

from core import sealing

CONTEXT = "mfa"
SEALED = ("secret", "seed")  # of an authenticator app, of recovery codes


def reseal() -> int:
    """Seal secrets anew that an older key sealed; return how many."""
    newest, done = f"{next(iter(settings.SEALING_KEYS))}:", 0
    for pk in Authenticator.objects.order_by("pk").values_list("pk", flat=True).iterator():
        with transaction.atomic():
            row = Authenticator.objects.select_for_update().filter(pk=pk).first()
            old = {name: row.data[name] for name in SEALED if row.data.get(name)} if row else {}
            fresh = {name: _anew(text) for name, text in old.items() if not text.startswith(newest)}
            if row and fresh:
                row.data = {**row.data, **fresh}
                row.save(update_fields=["data"])
                done += 1
    return done


def _anew(sealed: str) -> str:
    return sealing.seal(sealing.unseal(sealed, context=CONTEXT), context=CONTEXT)
