"""Sentences for the codes that rows carry, so that each reader gets them in his language."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import override

MESSAGES: dict[str, str | Promise] = {
    "setting_up": _("The servers are being set up."),
    "site_away": _("The site does not answer at the moment. It is tried again every minute at least."),
    "nodes_not_ready": _("Waiting for the servers to report that they are ready."),
    "node_not_clean": _("A server is still being cleaned from its last use. Setting up goes on by itself."),
    "refused": _("The site refused the set-up. Our staff have been told and take care of it."),
    "setup_failed": _("The set-up did not finish in time. Our staff have been told and take care of it."),
    "stopping_jobs": _("The lease has ended. Running jobs get time to save a checkpoint and stop."),
    "cleaning_up": _("The lease has ended. The servers are being cleaned."),
    "cleaning_late": _("Cleaning the servers takes longer than planned. Our staff have been told."),
    "hold_expired": _("The hold ran out before the payment arrived, so the servers were given back."),
    "order_cancelled": _("The order was cancelled, so the servers were given back."),
    "sold_out": _("The payment arrived after the hold had run out, and the servers were taken by then."),
}

EVENTS: dict[str, str | Promise] = {
    "confirmed": _("Booked"),
    "provisioning": _("Set-up began"),
    "node_replaced": _("A server was replaced by another one"),
    "delayed": _("Set-up is delayed"),
    "failed": _("Set-up failed; staff were told"),
    "retried": _("Set-up was started again by staff"),
    "ready": _("Ready"),
    "warned": _("The coming end was announced"),
    "draining": _("The lease ended; jobs are being stopped"),
    "releasing": _("Servers are being cleaned"),
    "release_late": _("Cleaning takes longer than planned; staff were told"),
    "released": _("Servers were given back"),
    "cancelled": _("Cancelled"),
    "renamed": _("Renamed"),
    "auto_renew_on": _("Automatic renewal was switched on"),
    "auto_renew_off": _("Automatic renewal was switched off"),
}

STATES: dict[str, str | Promise] = {
    "held": _("held"),
    "scheduled": _("scheduled"),
    "provisioning": _("provisioning"),
    "ready": _("ready"),
    "draining": _("draining"),
    "releasing": _("releasing"),
    "failed": _("failed"),
    "released": _("released"),
    "cancelled": _("cancelled"),
}


def state(status: str) -> str:
    """Return the word for the state of a cluster."""
    return str(STATES.get(status, status))


def message(code: str) -> str:
    """Return the sentence of a message; text that is no code stands as it is."""
    return str(MESSAGES.get(code, code))


def source(code: str) -> dict[str, str] | str:
    """Return the sentence of a message for a notification, which says it in each reader's language."""
    with override(None):
        return {"sentence": str(MESSAGES[code])} if code in MESSAGES else code


def event(kind: str, detail: str = "") -> str:
    """Return the sentence of a timeline entry, with the detail that was kept."""
    sentence = str(EVENTS.get(kind, kind))
    return f"{sentence} ({detail})" if detail and detail not in MESSAGES else sentence
