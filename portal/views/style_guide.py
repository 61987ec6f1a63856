"""The style guide for staff: every part of the design on one page, drawn from plain sample data."""

import math
from datetime import datetime, timedelta

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.views.base import signed_in
from core.money import Money
from portal.ui import bars, charts, gpus, icons, states

SAMPLE_DAY = 552_960  # minor units: eight GPUs at 28.80 an hour


@signed_in
def show(request: HttpRequest) -> HttpResponse:
    """Show tokens, controls, states and drawings."""
    if not request.user.is_staff:
        raise Http404
    now = timezone.now()
    looks = {kind: table for kind, table in states.LOOKS.items() if kind != "run"}
    return render(
        request,
        "portal/style_guide.html",
        {
            "now": now,
            "looks": [(kind, list(table)) for kind, table in looks.items()],
            "icons": list(icons.SHAPES),
            "hues": range(1, gpus.HUES + 1),
            "boxes": _boxes(),
            "curves": _curves(),
            "lanes": _lanes(now),
            "calendar_end": now + timedelta(days=14),
            "lease_start": now - timedelta(days=4),
            "lease_end": now + timedelta(days=3, hours=4),
            "past": now - timedelta(minutes=7),
            "price": Money(SAMPLE_DAY, "CNY"),
            "amounts": {"day": SAMPLE_DAY, "month": SAMPLE_DAY * 51 // 2, "year": SAMPLE_DAY * 219},
            "chosen_total": SAMPLE_DAY * 51 // 2,
            "spark": [math.sin(index / 3) + index / 9 for index in range(30)],
            "span": timedelta(days=3, hours=4, minutes=12),
        },
    )


def _boxes() -> list[gpus.NodeBox]:
    kinds = ["busy"] * 6 + ["free", "free"]
    first = [gpus.Square(kind, 1 if index < 4 else 2) for index, kind in enumerate(kinds)]
    return [
        gpus.NodeBox(_("node {n}").format(n=1), first),
        gpus.NodeBox(_("node {n}").format(n=2), [gpus.Square("busy", 3)] * 8),
        gpus.NodeBox(_("node {n}").format(n=3), [gpus.Square("draining")] * 4 + [gpus.Square("free")] * 4),
        gpus.NodeBox(_("node {n}").format(n=4), [gpus.Square("failed")] * 2 + [gpus.Square("off")] * 6),
    ]


def _curves() -> list[charts.Series]:
    loss = [(step, 4.2 * math.exp(-step / 260) + 1.4 + 0.05 * math.sin(step)) for step in range(0, 1000, 5)]
    check = [(step, 4.3 * math.exp(-step / 280) + 1.5) for step in range(0, 1000, 100)]
    return [charts.Series(_("training"), loss), charts.Series(_("validation"), check)]


def _lanes(now: datetime) -> list[bars.Lane]:
    def slot(first: int, last: int, kind: str) -> bars.Slot:
        return bars.Slot(now + timedelta(days=first), now + timedelta(days=last), kind, kind)

    return [
        bars.Lane("h100-01", [slot(-2, 3, "lease"), slot(3, 4, "turnaround"), slot(5, 12, "lease")]),
        bars.Lane("h100-02", [slot(0, 6, "lease"), slot(8, 9, "maintenance")]),
        bars.Lane("h100-03", [slot(1, 2, "hold"), slot(4, 10, "down")]),
        bars.Lane("h100-04", []),
    ]
