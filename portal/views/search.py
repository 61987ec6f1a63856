"""The search of the top bar: clusters, jobs, orders and invoices of the organisation, by name or id."""

from typing import Any

from django.db.models import Q
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from accounts.models import Organisation
from accounts.views.base import PageRequest, page
from billing import reads as billing_reads
from clusters import reads as cluster_reads
from jobs import reads as job_reads

MOST = 20


@require_safe
@page()
def show(request: PageRequest) -> HttpResponse:
    """Show what matches; an exact id leads straight to its page."""
    word = request.GET.get("q", "").strip()[:100].replace("\0", "")
    found = _found(request.access.organisation, word) if word else {}
    hits = [(kind, row) for kind, rows in found.items() for row in rows]
    if len(hits) == 1 and hits[0][1].pk == word:
        return redirect(_url(*hits[0]))
    return render(request, "portal/search.html", {"word": word, "found": found, "number": len(hits)})


def _found(organisation: Organisation, word: str) -> dict[str, list[Any]]:
    """Return rows by kind; each query is bounded."""
    named = Q(name__icontains=word) | Q(pk=word)
    return {
        "clusters": list(cluster_reads.clusters(organisation).filter(named)[:MOST]),
        "jobs": list(job_reads.jobs(organisation).filter(named).order_by("-pk")[:MOST]),
        "orders": list(billing_reads.orders(organisation).filter(pk=word)[:MOST]),
        "invoices": list(
            billing_reads.invoices(organisation)
            .filter(Q(number__icontains=word) | Q(pk=word))
            .order_by("-pk")[:MOST]
        ),
    }


def _url(kind: str, row: Any) -> str:
    names = {
        "clusters": ("cluster", "cluster_id"),
        "jobs": ("jobs:job", "job_id"),
        "orders": ("billing:order", "order_id"),
        "invoices": ("billing:invoice", "invoice_id"),
    }
    name, argument = names[kind]
    return reverse(name, kwargs={argument: row.pk})
