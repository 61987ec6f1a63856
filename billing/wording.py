"""Sentences of money, worded in the reader's language from the keys and figures that rows keep."""

from collections.abc import Callable, Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from billing.periods import Term

Params = Mapping[str, Any]


def line(key: str, params: Params) -> str:
    """Return the description of a line of a quote or invoice."""
    return _LINES[key](params)


def count_of(unit: str, count: int) -> str:
    """Return ``2 months`` and the like."""
    if unit == "day":
        return ngettext("%(count)s day", "%(count)s days", count) % {"count": count}
    if unit == "month":
        return ngettext("%(count)s month", "%(count)s months", count) % {"count": count}
    return ngettext("%(count)s year", "%(count)s years", count) % {"count": count}


def term(asked: Term) -> str:
    """Return ``1 year, 2 months`` and the like."""
    return _(" + ").join(count_of(unit, count) for unit, count in asked.parts)


def cheaper(asked: Term, instead: Term) -> str:
    """Return why another term is named beside a quote."""
    return _("%(instead)s cost less than %(asked)s and last at least as long.") % {
        "instead": term(instead),
        "asked": term(asked),
    }


def order_message(key: str) -> str:
    """Return what the customer should know about an order and do next; empty when there is nothing."""
    return _ORDER_MESSAGES[key]() if key in _ORDER_MESSAGES else ""


def order_status(status: str) -> str:
    """Return the word for the state of an order."""
    return _ORDER_STATUS[status]()


def payment_failure(code: str, message: str = "") -> str:
    """Return why a payment failed and what to do: our sentence for what we know, else the provider's."""
    if code in _FAILURES:
        return _FAILURES[code]()
    if message:
        return _("%(reason)s Your hold stays: try again or use another card.") % {"reason": message}
    return _("The payment did not go through. Nothing was taken; your hold stays, so you can try again.")


def _rent(params: Params) -> str:
    return _("%(nodes)s × %(node_type)s for %(time)s") % {
        "nodes": params["nodes"],
        "node_type": params["node_type"],
        "time": count_of(params["unit"], params["count"]),
    }


def _volume(params: Params) -> str:
    return _("Volume discount %(percent)s %% from %(min_gpus)s GPUs") % dict(params)


def _tax(params: Params) -> str:
    return _("%(title)s %(percent)s %%") % dict(params)


_LINES: dict[str, Callable[[Params], str]] = {"rent": _rent, "volume": _volume, "tax": _tax}

_ORDER_STATUS: dict[str, Callable[[], str]] = {
    "pending": lambda: _("waiting for payment"),
    "paid": lambda: _("paid"),
    "fulfilled": lambda: _("fulfilled"),
    "cancelled": lambda: _("cancelled"),
    "expired": lambda: _("expired"),
    "refunded": lambda: _("refunded"),
    "unfulfillable": lambda: _("not fulfillable"),
}

_ORDER_MESSAGES: dict[str, Callable[[], str]] = {
    "hold_ended": lambda: _(
        "The time to pay ran out, so the nodes were given back. Nothing was taken. "
        "Make a new quote to try again."
    ),
    "cancelled": lambda: _("You cancelled this order and the nodes were given back. Nothing was taken."),
    "reheld": lambda: _(
        "Your payment came after the hold had ended. The nodes were still free: "
        "your time starts at the moment of payment and is as long as you ordered."
    ),
    "paid_late": lambda: _(
        "Your payment came after the hold had ended and the nodes are taken. "
        "You get all of your money back the way it came; this usually takes a few days."
    ),
    "paid_after_cancel": lambda: _(
        "A payment came in after you had cancelled. You get all of it back the way it came."
    ),
    "paid_twice": lambda: _("This order was paid twice. The second payment goes back the way it came."),
}

_FAILURES: dict[str, Callable[[], str]] = {
    "card_declined": lambda: _(
        "The card was declined and nothing was taken. Your hold stays: try again or use another card."
    ),
    "insufficient_funds": lambda: _(
        "The card does not have enough funds; nothing was taken. Your hold stays: use another card."
    ),
    "expired_card": lambda: _("The card has expired. Your hold stays: use another card."),
    "incorrect_cvc": lambda: _("The security code is not right. Your hold stays: check it and try again."),
    "payment_intent_authentication_failure": lambda: _(
        "Your bank could not confirm that it is you. Your hold stays: try again or use another card."
    ),
    "amount_too_large": lambda: _(
        "This amount is larger than a card payment may be; nothing was taken. "
        "Cancel the order and split it into smaller clusters."
    ),
    "cancelled": lambda: _("This payment was cancelled before anything was taken."),
    "gateway_error": lambda: _(
        "The payment service refused the request; nothing was taken. Your hold stays: try again."
    ),
}
