"""Addresses for machines that look after the portal: is it alive, is it ready, how is it doing."""

import hmac

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from portal import readiness, telemetry


@require_safe
@never_cache
def live(request: HttpRequest) -> HttpResponse:
    """Say that this process answers; it asks nobody else."""
    return JsonResponse({"status": "live"})


@require_safe
@never_cache
def ready(request: HttpRequest) -> HttpResponse:
    """Answer 200 when every part is up, else 503 with the names of those that are not.

    ``?exclude=worker&exclude=watcher`` leaves parts out: web can serve while another process is started anew.
    """
    parts = readiness.parts(exclude=request.GET.getlist("exclude"))
    failing = {name: said for name, said in parts.items() if said != "up"}
    body = {"status": "not ready" if failing else "ready", "failing": failing, "parts": parts}
    return JsonResponse(body, status=503 if failing else 200)


@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """Show figures to Prometheus, which brings the key as a bearer token."""
    if not settings.METRICS_KEY:
        raise Http404
    given = request.headers.get("Authorization", "")
    if not hmac.compare_digest(given.encode(), f"Bearer {settings.METRICS_KEY}".encode()):
        refused = HttpResponse(status=401)
        refused["WWW-Authenticate"] = 'Bearer realm="metrics"'
        return refused
    return HttpResponse(telemetry.exposition(), content_type=CONTENT_TYPE_PLAIN_0_0_4)
