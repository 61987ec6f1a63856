"""Django's handle on this app."""

from django.apps import AppConfig


class ClustersConfig(AppConfig):
    """Nothing is decided at import."""

    name = "clusters"
