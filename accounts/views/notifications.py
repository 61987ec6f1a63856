"""Notifications: a list in the reader's language, and one button."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from accounts import notices, reads
from accounts.services import notifications
from accounts.views.base import page
from core.rest.pagination import paginate


@require_safe
@page()
def notification_list(request: Any) -> HttpResponse:
    """List what this person is told."""
    home, user = request.access.organisation, request.access.user
    last = reads.read_up_to(home, user)
    rows = paginate(reads.notifications(home, user), request.GET)
    items = []
    for row in rows.items:
        title, text = notices.render(row.kind, row.params)
        items.append({"row": row, "title": title, "text": text, "new": row.pk > last})
    shown = {"page": rows, "items": items, "page_cursor": request.GET.get("cursor", "")}
    return render(request, "accounts/notifications.html", shown)


@require_POST
@page()
def read_all(request: Any) -> HttpResponse:
    """Note that everything so far is read: one's own mark, so any role may."""
    notifications.read_all(organisation=request.access.organisation, user=request.access.user)
    return redirect("accounts:notifications")
