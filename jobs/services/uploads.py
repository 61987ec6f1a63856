"""Archives of code: looked into, then streamed to the storage; a job names them by ``code.archive``."""

import hashlib
from datetime import datetime

from django.core.files.uploadedfile import UploadedFile
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from accounts.access import Access
from accounts.services import audit
from core import errors
from jobs import archives
from jobs.models import Upload
from jobs.services import places

MOST_BYTES = 100 * 1024 * 1024
CHUNK = 1024 * 1024


def store(*, access: Access, file: UploadedFile, idempotency_key: str | None = None, now: datetime) -> Upload:
    """Store an archive; a repeat with the same key returns what stands already."""
    access.require("jobs:write")
    if (file.size or 0) > MOST_BYTES:
        raise errors.Invalid.field("file", "too_large", _("An archive has at most 100 MB."))
    if not file.size:
        raise errors.Invalid.field("file", "empty", _("The file is empty."))
    try:
        kind = archives.inspect(file)
    except archives.BadArchive as error:
        raise errors.Invalid.field("file", error.code, _sentence(error.code)) from error
    digest = hashlib.sha256()
    for chunk in file.chunks(CHUNK):
        digest.update(chunk)
    file.seek(0)
    row = Upload(
        organisation=access.organisation,
        name=_name(file.name, kind),
        format=kind,
        bytes=file.size,
        sha256=digest.hexdigest(),
        created_by=access.user,
        idempotency_key=idempotency_key,
        created_at=now,
    )
    row.key = f"uploads/{access.organisation.pk}/{row.pk}"
    with places.ours().open_write(row.key) as target:
        for chunk in file.chunks(CHUNK):
            target.write(chunk)
    try:
        with transaction.atomic():
            row.save(force_insert=True)
            audit.record(
                actor=access.actor,
                action="upload.created",
                target=row,
                organisation=access.organisation,
                after={"name": row.name, "bytes": row.bytes, "sha256": row.sha256},
                now=now,
            )
    except IntegrityError as error:
        places.ours().delete(row.key)
        if idempotency_key is None or "upload_key_once" not in str(error):
            raise
        return Upload.objects.for_org(access.organisation).get(idempotency_key=idempotency_key)
    return row


def _name(given: str | None, kind: str) -> str:
    """Return the file's own name without folders, with what cannot be shown replaced."""
    last = (given or "").replace("\\", "/").rpartition("/")[2]
    clean = "".join(sign if sign.isprintable() else "_" for sign in last).strip()
    return clean[:200] or f"code.{kind}"


def _sentence(code: str) -> str:
    match code:
        case "format":
            return _("Send a zip or a tar.gz.")
        case "outside":
            return _("The archive holds a path or a link that leads out of its folder.")
        case "special":
            return _("The archive holds a device or a pipe.")
        case "encrypted":
            return _("The archive is encrypted.")
        case "too_many":
            return _("The archive holds more than 100,000 files.")
        case "too_large":
            return _("The archive unpacks to more than 2 GiB.")
        case _:
            return _("The archive is damaged: it cannot be read.")
