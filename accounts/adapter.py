"""Where django-allauth asks the portal: its mail leaves through our rows, sign-up stays open."""

import secrets
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.mfa.adapter import DefaultMFAAdapter
from django.utils import timezone

from accounts.services import mail, second_factors
from core import sealing


class AccountAdapter(DefaultAccountAdapter):
    """Messages are written and sent by the worker, so a mail server that is away breaks no page."""

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Write the message that allauth renders."""
        message = self.render_mail(template_prefix, email, {"email": email, **context})
        mail.write(
            to=email,
            subject=str(message.subject),
            body=str(message.body),
            once_key=f"sign-in:{secrets.token_hex(16)}",
            now=timezone.now(),
        )

    def format_email_subject(self, subject: str) -> str:
        """Return the subject without the name of a site in brackets."""
        return subject


class MfaAdapter(DefaultMFAAdapter):
    """Secrets of second factors are sealed at rest."""

    def encrypt(self, text: str) -> str:
        """Return the sealed text."""
        return sealing.seal(text.encode(), context=second_factors.CONTEXT)

    def decrypt(self, encrypted_text: str) -> str:
        """Return the text that was sealed."""
        return sealing.unseal(encrypted_text, context=second_factors.CONTEXT).decode()
