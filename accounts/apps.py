"""Django's handle on this app."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """Nothing is decided at import."""

    name = "accounts"
