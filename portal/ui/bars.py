"""Bars, sparklines and calendars as SVG: where a lease stands, what a timer has left, who has which node."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from portal.ui import scale, words


def bar(ratio: float, *, label: str, tone: str = "", now: bool = False) -> SafeString:
    """Draw a filled part of a track; ``now`` adds the line of the present moment at its end."""
    part = round(min(max(ratio, 0.0), 1.0) * 100, 2)
    mark = (
        format_html('<rect class="now" x="{}" y="0" width=".6" height="8"/>', max(0.0, part - 0.3))
        if now
        else ""
    )
    return format_html(
        '<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label="{}"><title>{}</title>'
        '<rect class="track" width="100" height="8" rx="1"/><rect class="fill {}" width="{}" height="8" rx="1"/>{}</svg>',
        label, label, tone, part, mark,
    )  # fmt: skip


def lease(start: datetime, end: datetime, now: datetime) -> SafeString:
    """Draw a lease from start to end with now marked."""
    ratio = (now - start) / (end - start) if end > start else 1.0
    if now < start:
        label = gettext("Starts {time}").format(time=words.exact(start))
    elif now >= end:
        label = gettext("Ended {time}").format(time=words.exact(end))
    else:
        label = gettext("{part} of the lease is over, {left} left").format(
            part=words.percent(ratio), left=words.duration(end - now)
        )
    tone = "attention" if start <= now < end and (end - now) < timedelta(hours=24) else ""
    return bar(ratio, label=label, tone=tone, now=start < now < end)


def spark(values: Sequence[float], *, label: str) -> SafeString:
    """Draw a small curve without axes; says its label in words."""
    if len(values) < 2:
        return format_html('<span class="soft">{}</span>', "–")
    across = scale.Scale(0, len(values) - 1, 1, 95)
    up = scale.Scale(min(values), max(values), 22, 2)
    path = "L".join(f"{across.at(index)} {up.at(value)}" for index, value in enumerate(values))
    return format_html(
        '<svg class="chart spark" viewBox="0 0 96 24" role="img" aria-label="{}"><title>{}</title>'
        '<path class="curve s1" d="M{}"/></svg>',
        label, label, path,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Slot:
    """A coloured stretch of a lane: lease, hold, maintenance, turnaround or down."""

    start: datetime
    end: datetime
    kind: str
    title: str
    href: str = ""


@dataclass(frozen=True, slots=True)
class Lane:
    """One node and what fills its time."""

    name: str
    slots: Sequence[Slot]


LANE, NAME, WIDTH = 18, 132, 960


def calendar(
    lanes: Sequence[Lane], start: datetime, end: datetime, now: datetime, *, label: str
) -> SafeString:
    """Draw nodes down and time across, a lane per node, bars by kind, now as a dashed line."""
    across = scale.Scale(start.timestamp(), end.timestamp(), NAME, WIDTH - 8)
    height = 24 + LANE * max(len(lanes), 1) + 6
    parts = [_lane(lane, index, start, end, across) for index, lane in enumerate(lanes)]
    days = format_html_join(
        "",
        '<line class="rule" x1="{}" x2="{}" y1="18" y2="{}"/><text x="{}" y="12">{}</text>',
        ((at, at, height - 4, at + 3, word) for at, word in _days(start, end, across)),
    )
    present = ""
    if start <= now <= end:
        at = across.at(now.timestamp())
        present = format_html('<line class="now" x1="{}" x2="{}" y1="18" y2="{}"/>', at, at, height - 4)
    return format_html(
        '<svg class="chart calendar" viewBox="0 0 {} {}" role="img" aria-label="{}"><title>{}</title>{}{}{}</svg>',
        WIDTH, height, label, label, days, format_html_join("", "{}", ((part,) for part in parts)), present,
    )  # fmt: skip


def _days(start: datetime, end: datetime, across: scale.Scale) -> list[tuple[float, str]]:
    first = words.local(start).replace(hour=0, minute=0, second=0, microsecond=0)
    count = (end - start).days + 2
    every = max(1, count // 14)
    days = [first + timedelta(days=index) for index in range(0, count, every)]
    placed = [(across.at(d.timestamp()), f"{d.month}/{d.day}") for d in days if start <= d < end]
    return [(at, word) for at, word in placed if at < WIDTH - 36]


def _lane(lane: Lane, index: int, start: datetime, end: datetime, across: scale.Scale) -> SafeString:
    y = 22 + index * LANE
    bars = format_html_join("", "{}", ((_slot(slot, y, start, end, across),) for slot in lane.slots))
    return format_html(
        '<g><text x="0" y="{}">{}</text><rect class="lane" x="{}" y="{}" width="{}" height="{}" rx="2"/>{}</g>',
        y + 11, lane.name[:20], NAME, y, WIDTH - 8 - NAME, LANE - 4, bars,
    )  # fmt: skip


def _slot(slot: Slot, y: int, start: datetime, end: datetime, across: scale.Scale) -> SafeString:
    if slot.end <= start or slot.start >= end:
        return format_html("{}", "")
    left = across.at(max(slot.start, start).timestamp())
    right = across.at(min(slot.end, end).timestamp())
    rect = format_html(
        '<rect class="slot {}" x="{}" y="{}" width="{}" height="{}" rx="2"><title>{}</title></rect>',
        slot.kind, left, y, round(max(right - left, 1.5), 1), LANE - 4, slot.title,
    )  # fmt: skip
    return format_html('<a href="{}">{}</a>', slot.href, rect) if slot.href else rect
