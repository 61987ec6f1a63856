"""What jobs need over REST: environments, uploads of code, secrets."""

from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.base import BerthAPIView
from core import errors
from core.rest import pagination
from jobs import reads, shapes
from jobs.api import serializers
from jobs.api.jobs import key_of
from jobs.models import Secret, Upload
from jobs.services import environments, secrets, uploads


class EnvironmentsView(BerthAPIView):
    """`GET environments`."""

    rights = {"GET": "catalog:read"}

    @extend_schema(
        operation_id="environments_list",
        responses=pagination.page_serializer(serializers.EnvironmentSerializer),
    )
    def get(self, request: Request) -> Response:
        """Return all environments, those that the caller's sites can run first."""
        backends = reads.backends(self.organisation)
        rows = environments.listed(backends)
        items = [shapes.environment(row, sites, row.backend in backends) for row, sites in rows]
        return Response({"items": items, "next": None})


class UploadsView(BerthAPIView):
    """`POST uploads`."""

    rights = {"GET": "jobs:read", "POST": "jobs:write"}
    parser_classes = [MultiPartParser]
    paged = True

    @extend_schema(
        operation_id="uploads_list", responses=pagination.page_serializer(serializers.UploadSerializer)
    )
    def get(self, request: Request) -> Response:
        """Return uploads, newest first."""
        page = pagination.paginate(Upload.objects.for_org(self.organisation), request.query_params)
        return Response(page.answer(shapes.upload))

    @extend_schema(
        operation_id="uploads_create",
        request={"multipart/form-data": serializers.UploadFormSerializer},
        responses={201: serializers.UploadSerializer},
    )
    def post(self, request: Request) -> Response:
        """Store an archive of code (zip or tar.gz, 100 MB) for ``code.archive``."""
        unknown = sorted(set(request.data) - {"file"})
        if unknown:
            raise errors.Invalid.field(unknown[0][:100], "unknown_field", _("This call has no such field."))
        file = request.FILES.get("file")
        if file is None:
            raise errors.Invalid.field("file", "required", _("Send the archive as the form field file."))
        row = uploads.store(
            access=self.access, file=file, idempotency_key=key_of(request), now=timezone.now()
        )
        return Response(shapes.upload(row), status=201)


class SecretsView(BerthAPIView):
    """`GET secrets` and `POST secrets`."""

    rights = {"GET": "jobs:read", "POST": "jobs:write"}
    paged = True

    @extend_schema(
        operation_id="secrets_list", responses=pagination.page_serializer(serializers.SecretSerializer)
    )
    def get(self, request: Request) -> Response:
        """Return the names of secrets, newest first; values are never shown."""
        page = pagination.paginate(Secret.objects.for_org(self.organisation), request.query_params)
        return Response(page.answer(shapes.secret))

    @extend_schema(
        operation_id="secrets_put",
        request=serializers.SecretFormSerializer,
        responses={201: serializers.SecretSerializer},
    )
    def post(self, request: Request) -> Response:
        """Store a secret, or replace its value."""
        given = serializers.SecretFormSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        row = secrets.put(access=self.access, now=timezone.now(), **given.validated_data)
        return Response(shapes.secret(row), status=201)


class SecretView(BerthAPIView):
    """`DELETE secrets/{name}`."""

    rights = {"DELETE": "jobs:write"}

    @extend_schema(operation_id="secrets_delete", responses={204: None})
    def delete(self, request: Request, name: str) -> Response:
        """Delete a secret; running jobs keep their copy."""
        secrets.delete(access=self.access, name=name, now=timezone.now())
        return Response(status=204)
