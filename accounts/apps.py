"""Django's handle on this app."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """Nothing is decided at import; what the sign-in library writes is audited."""

    name = "accounts"

    def ready(self) -> None:
        """Listen to the sign-in library."""
        from accounts import sign_in_events

        sign_in_events.connect()
