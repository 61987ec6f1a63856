"""State machines of money; docs/states.md shows the same tables in words."""

from core.states import machine

ORDER = machine(
    "order",
    pending="paid cancelled expired unfulfillable",
    paid="fulfilled refunded unfulfillable",
    fulfilled="refunded",
    unfulfillable="refunded",
    expired="paid unfulfillable",  # paid late: re-held if capacity is left, else refunded
    cancelled="paid unfulfillable",  # a payment that could not be stopped in time
    refunded="",
)

PAYMENT = machine(
    "payment",
    pending="requires_action processing succeeded failed",
    requires_action="processing succeeded failed",
    processing="requires_action succeeded failed",
    succeeded="refunded",
    failed="succeeded",
    refunded="",
)

REFUND = machine(
    "refund", pending="processing succeeded failed", processing="succeeded failed", succeeded="", failed=""
)

INVOICE = machine(
    "invoice", draft="open", open="paid void uncollectible", paid="", void="", uncollectible="paid"
)

PAYMENT_EVENT = machine(
    "payment_event", received="processed ignored failed", failed="processed ignored", processed="", ignored=""
)
