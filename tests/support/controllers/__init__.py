"""What an API server alone lacks: operator, scheduler, kubelet, quota and garbage, step by step."""

from tests.support.controllers.api import Api
from tests.support.controllers.everything import Controllers

__all__ = ["Api", "Controllers"]
