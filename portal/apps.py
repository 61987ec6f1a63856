"""Django's handle on the top floor."""

from django.apps import AppConfig


class PortalConfig(AppConfig):
    """System checks and template tags live here."""

    name = "portal"
