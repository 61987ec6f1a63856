"""Which gateway takes which method, on this installation."""

from django.conf import settings

from billing.gateways.port import Gateway
from billing.gateways.stripe import StripeGateway
from billing.gateways.test import OUTCOMES, TestGateway

__all__ = ["OUTCOMES", "gateway", "methods"]


def methods() -> list[str]:
    """Return the methods that customers can use here, the one to offer first in front."""
    found = ["stripe"] if settings.STRIPE_SECRET_KEY else []
    return [*found, "test"] if settings.TEST_GATEWAY else found


def gateway(method: str) -> Gateway:
    """Return the gateway of a method; KeyError for one that nobody takes."""
    gateways: dict[str, type[Gateway]] = {"stripe": StripeGateway, "test": TestGateway}
    return gateways[method]()
