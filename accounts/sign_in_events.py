"""Audit rows for what django-allauth writes: its signals are the only place where it tells."""

from typing import Any

from allauth.account import signals as account_signals
from allauth.mfa import signals as mfa_signals
from django.utils import timezone

from accounts import access
from accounts.services import audit

ACTIONS = {
    account_signals.user_logged_in: "user.signed_in",
    account_signals.password_changed: "user.password_changed",
    account_signals.password_set: "user.password_changed",
    account_signals.password_reset: "user.password_reset",
    account_signals.email_added: "user.email_added",
    account_signals.email_removed: "user.email_removed",
    account_signals.email_changed: "user.email_changed",
    mfa_signals.authenticator_added: "user.second_factor_added",
    mfa_signals.authenticator_removed: "user.second_factor_removed",
    mfa_signals.authenticator_reset: "user.recovery_codes_renewed",
}


def connect() -> None:
    """Listen; the receivers live as long as the process."""
    for signal, action in ACTIONS.items():
        signal.connect(_receiver(action), weak=False, dispatch_uid=f"accounts.audit.{action}.{id(signal)}")


def _receiver(action: str) -> Any:
    def receive(request: Any = None, user: Any = None, **given: Any) -> None:
        if user is None or request is None:
            return
        audit.record(
            actor=access.person(user, request),
            action=action,
            target=user,
            organisation=None,
            after={"kind": given["authenticator"].type} if "authenticator" in given else None,
            now=timezone.now(),
        )

    return receive
