"""The code of a job for its pods: a signed ticket opens one archive for minutes."""

from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseNotFound
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.views.decorators.http import require_GET

from core import errors
from jobs.services import places, tickets
from jobs.storage import StorageError


@require_GET
def download(request: HttpRequest, ticket: str) -> HttpResponseBase:
    """Stream the archive that a ticket names; whatever else it is, it opens nothing."""
    try:
        upload = tickets.redeem(ticket, now=timezone.now())
        file = places.ours().open_read(upload.key)
    except (errors.NotFound, StorageError):
        return HttpResponseNotFound("This ticket opens nothing.\n", content_type="text/plain")
    answer: HttpResponse | FileResponse = FileResponse(file, content_type="application/octet-stream")
    answer["Content-Length"] = str(upload.bytes)
    answer["Cache-Control"] = "no-store"
    answer["X-Content-Type-Options"] = "nosniff"
    return answer
