"""Questions that are asked by POST: may I, and give me a token."""

import secrets
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from tests.support.mockapi import status, writes
from tests.support.mockapi.kinds import Resource

if TYPE_CHECKING:
    from tests.support.mockapi.routes import Request


def answer(request: "Request", group: str, plural: str) -> Any:
    """Answer a SelfSubjectAccessReview; None for any other resource."""
    if (group, plural, request.method) != ("authorization.k8s.io", "selfsubjectaccessreviews", "POST"):
        return None
    review = request.json()
    asked = review["spec"].get("resourceAttributes") or {}
    name = "/".join(part for part in (asked.get("resource"), asked.get("subresource")) if part)
    verb = asked.get("verb", "")
    allowed = not {(verb, name), ("*", name), (verb, "*")} & request.api.denied
    return {**review, "status": {"allowed": allowed, "reason": "" if allowed else "denied by the test"}}


def token(request: "Request", resource: Resource, namespace: str, name: str) -> Any:
    """Issue a token of a service account, which this server does not accept itself."""
    if request.api.objects.get(resource, namespace, name) is None:
        raise status.not_found(resource, name)
    given = request.json()
    seconds = given["spec"].get("expirationSeconds", 3600)
    if seconds < 600:
        field, why = (
            "spec.expirationSeconds",
            f"Invalid value: {seconds}: may not specify a duration less than 10 minutes",
        )
        raise status.invalid(
            Resource("authentication.k8s.io", "v1", "tokenrequests", "TokenRequest"), "", [(field, why)]
        )
    ends = writes.stamp(datetime.now(UTC) + timedelta(seconds=seconds))
    return {**given, "status": {"token": secrets.token_urlsafe(24), "expirationTimestamp": ends}}
