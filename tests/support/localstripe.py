"""A localstripe process on the loopback address, and the hands of a customer who pays there."""

import hashlib
import hmac
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any

import stripe

from tests.support import wait

KEY = "sk_test_of_localstripe"
WEBHOOK_SECRET = "whsec_of_tests"
GOOD_CARD = "4242424242424242"
DECLINED_CARD = "4000000000000341"

# Its own command listens on every address and writes to a shared file: serve its application ourselves.
_SERVE = """
import sys
import time
from aiohttp import web
from localstripe import resources, server
resources.store.dump_to_disk = lambda: None
web.run_app(server.app, host="127.0.0.1", port=int(sys.argv[1]), print=None)
"""


@dataclass
class LocalStripe:
    """A running localstripe."""

    base: str
    process: subprocess.Popen[bytes]

    @property
    def client(self) -> Any:
        """The real SDK, pointed here."""
        return stripe.StripeClient(KEY, base_addresses={"api": self.base}).v1

    def pay(self, intent: str, card: str = GOOD_CARD) -> None:
        """Do what the customer's browser does: attach a card, confirm. A declined card is no error here."""
        method = self.client.payment_methods.create(
            params={
                "type": "card",
                "card": {"number": card, "exp_month": 12, "exp_year": 2040, "cvc": "123"},
            }
        )
        self.client.payment_intents.update(intent, params={"payment_method": method.id})
        try:
            self.client.payment_intents.confirm(intent)
        except stripe.CardError:
            assert card == DECLINED_CARD

    def stop(self) -> None:
        """End the process and wait for it."""
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(10)


def start() -> LocalStripe:
    """Start localstripe on a free port, empty, and wait until it answers."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-c", _SERVE, str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )
    base = f"http://127.0.0.1:{port}"

    def answers() -> bool:
        assert process.poll() is None, "localstripe ended at once"
        try:
            urllib.request.urlopen(f"{base}/js.stripe.com/v3/", timeout=1).close()
        except urllib.error.HTTPError:
            return True
        except OSError:
            return False
        return True

    try:
        wait.until(answers, 20)
    except BaseException:
        process.kill()
        process.wait(10)
        raise
    return LocalStripe(base, process)


def event(kind: str, subject: Any, *, event_id: str = "", **more: Any) -> dict[str, Any]:
    """Return the body of an event about an object of Stripe's."""
    return {
        "id": event_id or f"evt_{secrets.token_hex(8)}",
        "object": "event",
        "type": kind,
        "created": int(time.time()),
        "livemode": False,
        "data": {"object": subject.to_dict() if hasattr(subject, "to_dict") else subject},
        **more,
    }


def deliver(client: Any, body: dict[str, Any] | bytes, *, secret: str = WEBHOOK_SECRET, age: int = 0) -> Any:
    """Post an event to the portal, signed as Stripe signs."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    at = int(time.time()) - age
    digest = hmac.new(secret.encode(), b"%d." % at + raw, hashlib.sha256).hexdigest()
    return client.post(
        "/stripe/webhook",
        raw,
        content_type="application/json",
        headers={"Stripe-Signature": f"t={at},v1={digest}"},
    )
