"""Posts to the double-entry ledger: balanced, append-only, each cause once."""

from collections.abc import Sequence
from datetime import datetime

from django.db import IntegrityError, transaction

from accounts.models import Organisation
from billing.models import LedgerEntry, LedgerPosting

Side = tuple[str, int]  # account, minor units: debit above zero, credit below


def post(
    *,
    organisation: Organisation,
    kind: str,
    once_key: str,
    source: str,
    currency: str,
    sides: Sequence[Side],
    now: datetime,
    method: str = "",
) -> LedgerEntry | None:
    """Write an entry and its sides; None when its cause is posted already. Sides of zero are left out."""
    if sum(amount for _account, amount in sides):
        raise ValueError(f"{once_key}: the sides do not balance: {sides}")
    kept = [(account, amount) for account, amount in sides if amount]
    if not kept:
        return None
    try:
        with transaction.atomic():
            entry = LedgerEntry.objects.create(
                organisation=organisation, at=now, kind=kind, once_key=once_key, source=source
            )
            LedgerPosting.objects.bulk_create(
                LedgerPosting(
                    entry=entry,
                    account=account,
                    method=method if account == "cash" else "",
                    currency=currency,
                    amount=amount,
                )
                for account, amount in kept
            )
    except IntegrityError as error:
        if "once_key" not in str(error):
            raise
        return None
    return entry
