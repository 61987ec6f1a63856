"""Rows of people and what belongs to their organisations."""

from accounts.models.audit import AuditEntry
from accounts.models.idempotency import IdempotencyKey
from accounts.models.notification import MailMessage, Notification, NotificationRead
from accounts.models.organisation import Invitation, Member, Organisation, Project
from accounts.models.token import Token
from accounts.models.user import User

__all__ = [
    "AuditEntry",
    "IdempotencyKey",
    "Invitation",
    "MailMessage",
    "Member",
    "Notification",
    "NotificationRead",
    "Organisation",
    "Project",
    "Token",
    "User",
]
