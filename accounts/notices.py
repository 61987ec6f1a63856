"""The sentences of notifications: a table from kind to title and text, in the reader's language.

``params`` of a notification fill the braces. A param ``{"sentence": …, "values": …}`` is a message of the
catalogues, said in the reader's language too. A room that tells something new adds a row here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from string import Formatter
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.models.organisation import Role

SEVERITIES = ("info", "good", "attention", "bad")


@dataclass(frozen=True, slots=True)
class Notice:
    """What is said about one kind of event."""

    title: Promise | str
    text: Promise | str


NOTICES: dict[str, Notice] = {
    "member.joined": Notice(
        _("{person} joined"), _("{person} accepted an invitation and is now a member with the role {role}.")
    ),
    "member.removed": Notice(_("{person} was removed"), _("{person} is no longer a member.")),
    "order.paid": Notice(
        _("Order {order} is paid"), _("We received the payment; the cluster is being prepared.")
    ),
    "order.expired": Notice(
        _("Order {order} expired"),
        _("It was not paid in time, so its nodes are free again. Nothing was charged; you can order again."),
    ),
    "order.unfulfillable": Notice(
        _("Order {order} cannot be fulfilled"),
        _("The payment came after the hold had run out and the nodes are taken. We refund it in full."),
    ),
    "payment.failed": Notice(
        _("A payment for order {order} failed"),
        _("The nodes stay held for you until the hold ends. Try again or use another method."),
    ),
    "invoice.issued": Notice(_("Invoice {number}"), _("A new invoice is ready.")),
    "cluster.ready": Notice(_("Cluster {name} is ready"), _("You can submit jobs to it now.")),
    "cluster.ending": Notice(
        _("Cluster {name} ends soon"),
        _("Its jobs get a checkpoint signal and are stopped at the end of the term. Extend it to go on."),
    ),
    "cluster.released": Notice(_("Cluster {name} has ended"), _("Its nodes are released.")),
    "cluster.failed": Notice(
        _("Cluster {name} could not be prepared"), _("We are looking into it. Reason: {reason}")
    ),
    "cluster.late": Notice(
        _("Cluster {name} is late"),
        _("Preparing it takes longer than 15 minutes. The time from then on counts as downtime."),
    ),
    "job.succeeded": Notice(_("Job {name} succeeded"), _("Its log and checkpoints are kept.")),
    "job.failed": Notice(_("Job {name} failed"), _("Reason: {reason}")),
    "job.suspended": Notice(_("Job {name} is suspended"), _("Resume it whenever you like.")),
    "job.retried": Notice(
        _("Job {name} starts again"),
        _("The attempt before failed; it goes on from its checkpoint. Reason: {reason}"),
    ),
}


def check(kind: str, params: Mapping[str, Any]) -> None:
    """Raise ValueError when the kind is unknown or a parameter is missing."""
    notice = NOTICES.get(kind)
    if notice is None:
        raise ValueError(f"unknown notice {kind!r}: add its sentences to accounts/notices.py")
    wanted = {name for text in (notice.title, notice.text) for name in names(str(text))}
    if missing := wanted - params.keys():
        raise ValueError(f"notice {kind!r} lacks {sorted(missing)}")


def render(kind: str, params: Mapping[str, Any]) -> tuple[str, str]:
    """Return title and text in the language that is active."""
    notice = NOTICES[kind]
    said = {name: _say(name, value) for name, value in params.items()}
    return str(notice.title).format_map(said), str(notice.text).format_map(said)


def _say(name: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        return gettext(value["sentence"]) % value.get("values", {})
    if name == "role" and value in Role.values:
        return Role(value).label
    return value


def names(text: str) -> set[str]:
    """Return the names in braces of a text."""
    return {name for _text, name, _spec, _conversion in Formatter().parse(text) if name}
