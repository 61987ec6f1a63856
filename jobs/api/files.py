"""The data volume of a cluster over REST: browse, bring, fetch, delete."""

from typing import Any

from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.base import BerthAPIView
from clusters.models import Cluster
from core import attachments, errors
from core.rest.fields import z
from jobs.api import serializers
from jobs.services import files

PATH = OpenApiParameter("path", str, description="Below /data.")


class FilesView(BerthAPIView):
    """`clusters/{id}/files`."""

    rights = {"GET": "jobs:read", "POST": "jobs:write", "DELETE": "jobs:write"}
    parser_classes = [MultiPartParser]

    @extend_schema(operation_id="files_list", parameters=[PATH], responses=serializers.FileListSerializer)
    def get(self, request: Request, cluster_id: str) -> Response:
        """Return what lies in a folder of /data, folders first."""
        found = files.listing(_cluster(self, cluster_id), request.query_params.get("path", ""))
        items = [_show(entry) for entry in found.entries]
        return Response({"items": items, "next": None, "cut": found.cut})

    @extend_schema(
        operation_id="files_put",
        request={"multipart/form-data": serializers.FileFormSerializer},
        responses={201: serializers.FileSerializer},
    )
    def post(self, request: Request, cluster_id: str) -> Response:
        """Write a file of at most 1 GB to /data; ``path`` is where, the file's own name without it."""
        cluster = _cluster(self, cluster_id)
        if unknown := sorted(set(request.data) - {"file", "path"}):
            raise errors.Invalid.field(unknown[0][:100], "unknown_field", _("This call has no such field."))
        file = request.FILES.get("file")
        if file is None:
            raise errors.Invalid.field("file", "required", _("Send the file as the form field file."))
        form: Any = request.data
        path = str(form.get("path") or file.name)
        entry = files.put(access=self.access, cluster=cluster, path=path, file=file, now=timezone.now())
        return Response(_show(entry), status=201)

    @extend_schema(operation_id="files_delete", parameters=[PATH], responses={204: None})
    def delete(self, request: Request, cluster_id: str) -> Response:
        """Delete a file, or a folder with all below it."""
        cluster = _cluster(self, cluster_id)
        path = request.query_params.get("path", "")
        files.delete(access=self.access, cluster=cluster, path=path, now=timezone.now())
        return Response(status=204)


class FileContentView(BerthAPIView):
    """`clusters/{id}/files/content`."""

    rights = {"GET": "jobs:read"}

    @extend_schema(
        operation_id="files_read",
        parameters=[PATH],
        responses={(200, "application/octet-stream"): OpenApiTypes.BINARY},
    )
    def get(self, request: Request, cluster_id: str) -> HttpResponseBase:
        """Return a file as a download."""
        path = request.query_params.get("path", "")
        file, size = files.open_file(_cluster(self, cluster_id), path)
        return attachments.attachment(file, size, path)


def _cluster(view: BerthAPIView, cluster_id: str) -> Cluster:
    rows = Cluster.objects.for_org(view.organisation).select_related("site")
    found: Cluster = rows.get_or_404(cluster_id)
    return found


def _show(entry: files.Entry) -> dict[str, Any]:
    return {
        "name": entry.name,
        "path": entry.path,
        "kind": "folder" if entry.is_folder else "file",
        "bytes": entry.bytes,
        "modified_at": z(entry.modified),
    }
