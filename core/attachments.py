"""Files of customers leave as downloads: never shown, never sniffed, in the portal's origin."""

from typing import BinaryIO

from django.http import FileResponse


def attachment(file: BinaryIO, size: int, path: str) -> FileResponse:
    """Return a file as a download under the last name of its path; closes it when sent."""
    name = path.rpartition("/")[2]
    answer = FileResponse(file, as_attachment=True, filename=name, content_type="application/octet-stream")
    answer["Content-Length"] = str(size)
    answer["X-Content-Type-Options"] = "nosniff"
    return answer
