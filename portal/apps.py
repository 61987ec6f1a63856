"""Django's handle on the top floor."""

from django.apps import AppConfig


class PortalConfig(AppConfig):
    """System checks and template tags live here."""

    name = "portal"

    def ready(self) -> None:
        """Register the system checks."""
        from portal import checks  # noqa: F401
