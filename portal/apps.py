"""Django's handle on the top floor."""

from django.apps import AppConfig


class PortalConfig(AppConfig):
    """System checks, the Celery application and template tags live here."""

    name = "portal"

    def ready(self) -> None:
        """Register the system checks and make the Celery application the one that tasks belong to."""
        from portal import celery, checks  # noqa: F401
