"""Django's handle on this app."""

from django.apps import AppConfig


class JobsConfig(AppConfig):
    """Nothing is decided at import."""

    name = "jobs"
