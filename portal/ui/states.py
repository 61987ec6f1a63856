"""How every state of every machine looks: tone, icon and word, defined here and nowhere else."""

from typing import NamedTuple

from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import pgettext_lazy

from portal.ui import icons


class Look(NamedTuple):
    """A tone of the palette (good, attention, bad, info, quiet), an icon and a translatable word."""

    tone: str
    icon: str
    word: Promise | str


CLUSTER = {
    "held": Look("attention", "clock", pgettext_lazy("state of a cluster", "held")),
    "scheduled": Look("info", "clock", pgettext_lazy("state of a cluster", "scheduled")),
    "provisioning": Look("info", "half", pgettext_lazy("state of a cluster", "provisioning")),
    "ready": Look("good", "check", pgettext_lazy("state of a cluster", "ready")),
    "draining": Look("attention", "half", pgettext_lazy("state of a cluster", "draining")),
    "releasing": Look("attention", "undo", pgettext_lazy("state of a cluster", "releasing")),
    "released": Look("quiet", "dash", pgettext_lazy("state of a cluster", "released")),
    "failed": Look("bad", "cross", pgettext_lazy("state of a cluster", "failed")),
    "cancelled": Look("quiet", "cross", pgettext_lazy("state of a cluster", "cancelled")),
}
NODE = {
    "available": Look("good", "check", pgettext_lazy("state of a node", "available")),
    "suspect": Look("attention", "alert", pgettext_lazy("state of a node", "suspect")),
    "cordoned": Look("attention", "pause", pgettext_lazy("state of a node", "cordoned")),
    "draining": Look("attention", "half", pgettext_lazy("state of a node", "draining")),
    "maintenance": Look("info", "wrench", pgettext_lazy("state of a node", "maintenance")),
    "repair": Look("bad", "wrench", pgettext_lazy("state of a node", "in repair")),
    "burn_in": Look("info", "half", pgettext_lazy("state of a node", "burn-in")),
    "failed": Look("bad", "cross", pgettext_lazy("state of a node", "failed")),
    "retired": Look("quiet", "dash", pgettext_lazy("state of a node", "retired")),
}
JOB = {
    "queued": Look("info", "clock", pgettext_lazy("state of a job", "queued")),
    "launching": Look("info", "half", pgettext_lazy("state of a job", "launching")),
    "pending": Look("info", "half", pgettext_lazy("state of a job", "starting")),
    "running": Look("good", "jobs", pgettext_lazy("state of a job", "running")),
    "suspended": Look("attention", "pause", pgettext_lazy("state of a job", "suspended")),
    "succeeded": Look("good", "check", pgettext_lazy("state of a job", "succeeded")),
    "failed": Look("bad", "cross", pgettext_lazy("state of a job", "failed")),
    "cancelled": Look("quiet", "cross", pgettext_lazy("state of a job", "cancelled")),
}
ORDER = {
    "pending": Look("attention", "clock", pgettext_lazy("state of an order", "awaiting payment")),
    "paid": Look("info", "half", pgettext_lazy("state of an order", "paid")),
    "fulfilled": Look("good", "check", pgettext_lazy("state of an order", "fulfilled")),
    "cancelled": Look("quiet", "cross", pgettext_lazy("state of an order", "cancelled")),
    "expired": Look("quiet", "clock", pgettext_lazy("state of an order", "expired")),
    "unfulfillable": Look("bad", "alert", pgettext_lazy("state of an order", "cannot be fulfilled")),
    "refunded": Look("quiet", "undo", pgettext_lazy("state of an order", "refunded")),
}
PAYMENT = {
    "pending": Look("info", "clock", pgettext_lazy("state of a payment", "pending")),
    "requires_action": Look("attention", "alert", pgettext_lazy("state of a payment", "needs you")),
    "processing": Look("info", "half", pgettext_lazy("state of a payment", "processing")),
    "succeeded": Look("good", "check", pgettext_lazy("state of a payment", "succeeded")),
    "failed": Look("bad", "cross", pgettext_lazy("state of a payment", "declined")),
    "refunded": Look("quiet", "undo", pgettext_lazy("state of a payment", "refunded")),
}
REFUND = {
    "pending": Look("info", "clock", pgettext_lazy("state of a refund", "pending")),
    "processing": Look("info", "half", pgettext_lazy("state of a refund", "processing")),
    "succeeded": Look("good", "check", pgettext_lazy("state of a refund", "returned")),
    "failed": Look("bad", "cross", pgettext_lazy("state of a refund", "failed")),
}
INVOICE = {
    "draft": Look("quiet", "ring", pgettext_lazy("state of an invoice", "draft")),
    "open": Look("attention", "clock", pgettext_lazy("state of an invoice", "open")),
    "paid": Look("good", "check", pgettext_lazy("state of an invoice", "paid")),
    "void": Look("quiet", "cross", pgettext_lazy("state of an invoice", "void")),
    "uncollectible": Look("bad", "alert", pgettext_lazy("state of an invoice", "uncollectible")),
}
PAYMENT_EVENT = {
    "received": Look("info", "clock", pgettext_lazy("state of a payment event", "received")),
    "processed": Look("good", "check", pgettext_lazy("state of a payment event", "processed")),
    "ignored": Look("quiet", "dash", pgettext_lazy("state of a payment event", "ignored")),
    "failed": Look("bad", "cross", pgettext_lazy("state of a payment event", "failed")),
}
LOOKS = {
    "cluster": CLUSTER,
    "node": NODE,
    "job": JOB,
    "run": JOB,
    "order": ORDER,
    "payment": PAYMENT,
    "refund": REFUND,
    "invoice": INVOICE,
    "payment_event": PAYMENT_EVENT,
}


def look(kind: str, word: str) -> Look:
    """Return how a state looks; an unknown one shows its own word, quietly."""
    return LOOKS.get(kind, {}).get(word, Look("quiet", "ring", word))


def badge(kind: str, word: str) -> SafeString:
    """Return the badge of a state: colour, icon and word."""
    tone, icon, text = look(kind, word)
    return format_html(
        '<span class="badge {}" data-state="{}">{}{}</span>', tone, word, icons.icon(icon), text
    )
