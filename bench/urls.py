"""The portal's addresses, and the view that the others are measured against."""

from typing import Any

from django.urls import include, path
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import AuditEntry


class BareView(APIView):
    """Reads JSON, inserts one row, answers: as little as a view can do that keeps something."""

    authentication_classes: list[Any] = []
    permission_classes: list[Any] = []

    def post(self, request: Request) -> Response:
        row = AuditEntry.objects.create(
            at=timezone.now(), actor_kind="bench", actor_label="bench", action="bench", after=request.data
        )
        return Response({"id": row.pk}, status=201)


urlpatterns = [path("bare", BareView.as_view()), path("", include("portal.urls"))]
