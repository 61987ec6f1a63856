"""Forms that are sent twice act once: their hidden ``key`` and what was entered are claimed before acting.

The second sending gets the first one's redirect. What was refused acts again, and so does changed input.
"""

import hashlib
import json
import time
from collections.abc import Callable
from typing import Any

from django.http.response import HttpResponseBase, HttpResponseRedirectBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone

from accounts.services import idempotency
from core import errors

FIELD, LONGEST = "key", 80
LEFT_OUT = (FIELD, "csrfmiddlewaretoken")
PATIENCE_SECONDS, PAUSE_SECONDS = 5.0, 0.1


def once(request: Any, run: Callable[[], HttpResponseBase], *, again: str = "") -> HttpResponseBase:
    """Run a view for a form that was sent, unless the same form has acted.

    ``request.key`` becomes the identity for the row that the view makes, None without the field. ``again``
    names the page that a repeat leads to where the first answer was a page of its own.
    """
    request.key, request.refused = None, False
    told = fingerprint(request)
    if told is None:
        return run()
    claim = _claim(request, told)
    if isinstance(claim, idempotency.Stored):
        return redirect(claim.body["location"])
    request.key = claim.identity
    try:
        answer = run()
    except Exception as error:
        idempotency.release(claim, same_request_only=not isinstance(error, errors.BerthError))
        raise
    location = _location(answer, again)
    if location and not request.refused:
        idempotency.store(claim, status=302, body=json.dumps({"location": location}).encode())
    else:
        idempotency.release(claim, same_request_only=False)
    return answer


def fingerprint(request: Any) -> str | None:
    """Return a word for who sent what where, None without a key: other input is another form."""
    entered = request.POST.get(FIELD, "")[:LONGEST] if request.method == "POST" else ""
    if not entered:
        return None
    parts = [request.user.pk, request.path, entered]
    parts += [[name, request.POST.getlist(name)] for name in sorted(request.POST) if name not in LEFT_OUT]
    for name in sorted(request.FILES):
        parts += [[name, file.name, _digest(file)] for file in request.FILES.getlist(name)]
    return idempotency.fingerprint(json.dumps(parts).encode())


def _claim(request: Any, told: str) -> idempotency.Claim | idempotency.Stored:
    """Claim the form; while the first sending is under way wait for its answer, for some seconds."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return idempotency.claim(
                organisation=request.access.organisation,
                key=f"page:{told}",
                fingerprint=told,
                now=timezone.now(),
            )
        except idempotency.InProgress:
            if time.monotonic() > deadline:
                raise
            time.sleep(PAUSE_SECONDS)


def _digest(file: Any) -> str:
    digest = hashlib.sha256()
    for chunk in file.chunks():
        digest.update(chunk)
    file.seek(0)
    return digest.hexdigest()


def _location(answer: HttpResponseBase, again: str) -> str:
    if isinstance(answer, HttpResponseRedirectBase):
        return answer.url
    return reverse(again) if again and answer.status_code == 200 else ""
