"""The OpenAPI schema: what every operation shares, said once (problems, cursors, idempotency)."""

from typing import Any, Literal

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse

from core.rest import pagination, problems
from core.rest.serializers import ProblemSerializer

ALWAYS = (400, 401, 403, 404, 406, 422, 429, 500, 503)
WITH_BODY = (409, 413, 415)
IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[ -~]+$"},
    OpenApiParameter.HEADER,
    description="Same key and body: the first answer again. Kept 24 hours, per organisation.",
)
PAGE = [
    OpenApiParameter("limit", {"type": "integer", "minimum": 1, "maximum": pagination.MOST, "default": 50}),
    OpenApiParameter("cursor", str, description="The `next` of the page before."),
]


class BerthSchema(AutoSchema):
    """Adds to each operation what the base view does for it; ``paged = True`` on a view marks its lists."""

    def get_override_parameters(self) -> list[Any]:
        """Return the parameters that the base view reads."""
        given = list(super().get_override_parameters())
        if self.method == "POST":
            given.append(IDEMPOTENCY_KEY)
        if self.method == "GET" and getattr(self.view, "paged", False):
            given.extend(PAGE)
        return given

    def _get_response_bodies(self, direction: Literal["request", "response"] = "response") -> dict[str, Any]:
        bodies: dict[str, Any] = super()._get_response_bodies(direction)
        statuses = ALWAYS + (WITH_BODY if self.method in {"POST", "PUT", "PATCH", "DELETE"} else ())
        for status in statuses:
            if str(status) not in bodies:
                bodies[str(status)] = self._get_response_for_code(  # type: ignore[no-untyped-call]
                    OpenApiResponse(ProblemSerializer, description="Problem document"),
                    str(status),
                    [problems.MEDIA_TYPE],
                    direction,
                )
        return bodies
