"""A Kubernetes API server for tests: real HTTP on loopback, spoken to by the official client.

It does what a real one does, as far as Berth uses it; what it lacks it answers with 501.
"""

from tests.support.mockapi.faults import Fault
from tests.support.mockapi.server import MockApi

__all__ = ["Fault", "MockApi"]
