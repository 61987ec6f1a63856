"""The test gateway: takes no money, plays the outcome that the payment's options name. It keeps nothing."""

from billing.gateways.port import Charge, GatewayError, GiveBack, Result

OUTCOMES = ("succeeded", "declined", "requires_action")


class TestGateway:
    """Answers at once; only where ``TEST_GATEWAY`` is on."""

    __test__ = False  # a gateway, not a test case

    def start(self, charge: Charge) -> Result:
        """Play the outcome under an id made from the charge's own."""
        return self._play(charge)

    def retrieve(self, charge: Charge) -> Result:
        """Play the outcome again: it follows from the charge alone."""
        if charge.provider_id != _provider_id(charge.id):
            raise GatewayError("no such test charge", code="unknown_charge", retryable=False)
        return self._play(charge)

    def cancel(self, charge: Charge) -> Result:
        """Cancel what has not succeeded."""
        if charge.provider_id and charge.options.get("outcome", "succeeded") == "succeeded":
            return self._play(charge)
        return Result("failed", charge.provider_id, charge.amount, charge.currency, failure_code="cancelled")

    def refund(self, back: GiveBack) -> Result:
        """Say that the money went back."""
        return Result("succeeded", _provider_id(back.id), back.amount, back.charge.currency)

    def retrieve_refund(self, back: GiveBack) -> Result:
        """Say the same again."""
        return self.refund(back)

    def _play(self, charge: Charge) -> Result:
        outcome = charge.options.get("outcome", "succeeded")
        if outcome == "declined":
            return Result(
                "failed",
                _provider_id(charge.id),
                charge.amount,
                charge.currency,
                failure_code="card_declined",
            )
        return Result(outcome, _provider_id(charge.id), charge.amount, charge.currency)


def _provider_id(own_id: str) -> str:
    return f"test_{own_id}"
