"""Django's handle on this app."""

from django.apps import AppConfig


class BillingConfig(AppConfig):
    """Nothing is decided at import."""

    name = "billing"
