"""The first page: what needs attention, then what runs; for a new organisation its first step."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import Organisation
from accounts.views.base import PageRequest, page, signed_in
from billing import reads as billing_reads
from billing import wording
from clusters import reads as cluster_reads
from clusters import words as cluster_words
from clusters.models import Cluster
from core.money import Money
from jobs import reads as job_reads
from jobs import shapes
from jobs.models import Job
from portal.ui import words
from portal.views import clusters as cluster_views

ENDS_SOON = timedelta(hours=48)
RECENT = timedelta(hours=24)
SHOWN = 8


@dataclass(frozen=True, slots=True)
class Matter:
    """Something that wants the reader: how urgent, what it is, and where to act."""

    tone: str
    title: str
    text: str
    at: datetime
    url: str
    action: str


@signed_in
def home(request: PageRequest) -> HttpResponse:
    """Show a customer's first page; staff go to the fleet."""
    if request.user.is_staff:
        return redirect("staff-nodes")
    return customer(request)


@page()
def customer(request: PageRequest) -> HttpResponse:
    """Show what needs the reader first."""
    organisation, now = request.access.organisation, timezone.now()
    clusters = list(cluster_reads.open_clusters(organisation)[:SHOWN])
    jobs = list(job_reads.jobs(organisation, {"status": ",".join(job_reads.OPEN)}).order_by("-pk")[:SHOWN])
    matters = [
        *_orders(organisation, now),
        *_clusters(clusters, now),
        *_failed(organisation, now),
    ]
    context: dict[str, Any] = {
        "now": now,
        "matters": matters[:SHOWN],
        "living": cluster_views.cards([row for row in clusters if row.status != "held"]),
        "jobs": jobs,
        "may_rent": request.access.allows("billing:write"),
        "may_submit": request.access.allows("jobs:write"),
    }
    context["new"] = not clusters and not jobs and not cluster_reads.clusters(organisation).exists()
    return render(request, "portal/home.html", context)


def _orders(organisation: Organisation, now: datetime) -> list[Matter]:
    """Orders that wait for their payment while nodes are held."""
    rows = billing_reads.orders(organisation).filter(status="pending").order_by("hold_expires_at")
    found = []
    for order in rows[:SHOWN]:
        payment = billing_reads.latest_payment(order)
        declined = payment is not None and payment.status == "failed"
        left = words.duration(max(order.hold_expires_at - now, timedelta())) if order.hold_expires_at else ""
        text = _("{term}, {total}. The nodes are held for {left} more.").format(
            term=wording.term(order.quote.term),
            total=words.money(Money(order.total, order.currency)),
            left=left,
        )
        found.append(
            Matter(
                "bad" if declined else "attention",
                _("The payment for {name} was declined").format(name=_name(order))
                if declined
                else _("{name} waits for its payment").format(name=_name(order)),
                text,
                order.created_at,
                reverse("billing:order", kwargs={"order_id": order.pk}),
                _("Try again") if declined else _("Pay"),
            )
        )
    return found


def _name(order: Any) -> str:
    return str(order.cluster.name) if order.cluster else str(order.quote.node_type.slug)


def _clusters(clusters: list[Cluster], now: datetime) -> list[Matter]:
    """Clusters that failed, and those that end soon."""
    found = []
    for cluster in clusters:
        url = reverse("cluster", kwargs={"cluster_id": cluster.pk})
        if cluster.status == "failed":
            title = _("{name} could not be set up").format(name=cluster.name)
            text = cluster_words.message(cluster.message)
            found.append(Matter("bad", title, text, cluster.state_since, url, _("Look")))
        elif cluster.status == "ready" and cluster.ends_at - now < ENDS_SOON:
            title = _("{name} ends in {left}").format(
                name=cluster.name, left=words.duration(cluster.ends_at - now)
            )
            text = _("Its jobs get time to save a checkpoint and are stopped at {time}.").format(
                time=words.exact(cluster.ends_at)
            )
            found.append(Matter("attention", title, text, cluster.ends_at, url, _("Look")))
    return found


def _failed(organisation: Organisation, now: datetime) -> list[Matter]:
    """Jobs that failed within a day and were not taken up again."""
    rows = job_reads.jobs(organisation, {"status": "failed"}).filter(finished_at__gte=now - RECENT)
    return [_failure(job) for job in rows.order_by("-finished_at")[:SHOWN]]


def _failure(job: Job) -> Matter:
    return Matter(
        "bad",
        _("{name} failed").format(name=job.name),
        shapes.reason_of(job, list(job.runs.all()), None),
        job.finished_at or job.created_at,
        reverse("jobs:job", kwargs={"job_id": job.pk}),
        _("Look"),
    )
