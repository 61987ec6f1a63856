"""Tells a customer's owners and billing people what happened to an order."""

from datetime import datetime

from accounts.services import notifications
from billing.models import Order

READERS = ("owner", "billing")


def tell(order: Order, kind: str, severity: str, *, once_key: str = "", now: datetime) -> None:
    """Write the notification of an event of an order and the mail that goes with it, once."""
    notifications.notify(
        organisation=order.organisation,
        kind=kind,
        severity=severity,
        params={"order": order.pk},
        link=f"/orders/{order.pk}",
        once_key=once_key or f"{kind}:{order.pk}",
        mail_to_roles=READERS,
        now=now,
    )
