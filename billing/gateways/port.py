"""What every payment gateway does, in our words. Nothing here knows rows or a provider's SDK."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

OPEN = ("pending", "requires_action", "processing")


@dataclass(frozen=True, slots=True)
class Charge:
    """Money to take: ``id`` is our payment's id and the idempotency key of every call about it."""

    id: str
    order: str
    organisation: str
    amount: int
    currency: str
    provider_id: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GiveBack:
    """Money to return: ``id`` is our refund's id and its idempotency key."""

    id: str
    charge: Charge
    amount: int
    provider_id: str | None = None
    repeated: bool = False  # an earlier call may have reached the provider


@dataclass(frozen=True, slots=True)
class Result:
    """Where a charge or a refund stands at the provider; ``status`` is a word of billing/states.py."""

    status: str
    provider_id: str | None
    amount: int
    currency: str
    client_secret: str = ""
    failure_code: str = ""
    failure_message: str = ""


class GatewayError(Exception):
    """The provider did not do what was asked; ``retryable`` says whether asking again makes sense."""

    def __init__(self, message: str, *, code: str = "gateway_error", retryable: bool) -> None:
        super().__init__(message)
        self.code = code
        self.retryable = retryable


class Gateway(Protocol):
    """A gateway. Every call may be repeated: the same id never moves money twice."""

    def start(self, charge: Charge) -> Result:
        """Begin to take the money; a declined card is a result, not an error."""
        ...

    def retrieve(self, charge: Charge) -> Result:
        """Return where a charge stands now; it must have a ``provider_id``."""
        ...

    def cancel(self, charge: Charge) -> Result:
        """Make sure that the charge takes no money any more; ``succeeded`` when it is too late."""
        ...

    def refund(self, back: GiveBack) -> Result:
        """Return money the way it came."""
        ...

    def retrieve_refund(self, back: GiveBack) -> Result:
        """Return where a refund stands now."""
        ...
