"""The data folder of a cluster: browse, upload, download. Files leave as attachments, never as pages."""

from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from accounts.views.base import PageRequest, page, refuse
from clusters import reads
from core import attachments, errors
from jobs.services import files


@require_safe
@page("jobs:read")
def index(request: PageRequest, cluster_id: str) -> HttpResponse:
    """Show a folder of the data volume."""
    cluster = reads.clusters(request.access.organisation).get_or_404(cluster_id)
    folder = request.GET.get("folder", "").strip("/")
    shown = files.listing(cluster, folder) if files.browsable(cluster) else None
    return render(
        request,
        "jobs/data.html",
        {
            "cluster": cluster,
            "folder": folder,
            "crumbs": _crumbs(folder),
            "listing": shown,
            "may_write": request.access.allows("jobs:write") and shown is not None,
        },
    )


@require_POST
@page("jobs:write")
def upload(request: PageRequest, cluster_id: str) -> HttpResponse:
    """Take files into the folder."""
    cluster = reads.clusters(request.access.organisation).get_or_404(cluster_id)
    folder = request.POST.get("folder", "")
    sent = request.FILES.getlist("file")
    try:
        if not sent:
            raise errors.Invalid(_("Choose at least one file."))
        for file in sent:
            path = f"{folder.rstrip('/')}/{file.name}"
            files.put(access=request.access, cluster=cluster, path=path, file=file, now=timezone.now())
        messages.success(request, _("Uploaded: {names}").format(names=", ".join(str(f.name) for f in sent)))
    except (errors.Invalid, errors.Conflict) as error:
        refuse(request, error)
    back = reverse("jobs:data", kwargs={"cluster_id": cluster_id})
    return redirect(f"{back}?{urlencode({'folder': folder})}" if folder else back)


@require_safe
@page("jobs:read")
def download(request: PageRequest, cluster_id: str) -> HttpResponseBase:
    """Send one file."""
    cluster = reads.clusters(request.access.organisation).get_or_404(cluster_id)
    key = request.GET.get("key", "")
    try:
        file, size = files.open_file(cluster, key)
    except errors.Invalid as error:  # no link of ours leads to such a name
        raise errors.NotFound(_("There is no such file.")) from error
    return attachments.attachment(file, size, key)


def _crumbs(folder: str) -> list[tuple[str, str]]:
    """Return the folders on the way as pairs of name and key."""
    names = [name for name in folder.split("/") if name]
    return [(name, "/".join(names[: index + 1])) for index, name in enumerate(names)]
