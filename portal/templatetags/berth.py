"""Tags and filters of the portal: badges, drawings, and values in words. `{% load berth %}` from any app."""

import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from core.money import Money
from portal.ui import bars, charts, costs, gpus, icons, logtext, occupancy, states, words

register = template.Library()
NOTICE_ICONS = {
    "success": "check",
    "good": "check",
    "warning": "alert",
    "attention": "alert",
    "error": "alert",
}


@register.simple_tag
def icon(name: str) -> SafeString:
    """Draw an icon of portal/ui/icons.py."""
    return icons.icon(name)


@register.simple_tag
def form_key() -> SafeString:
    """Write the hidden field by which a form that is sent twice acts once (accounts/views/once.py)."""
    return format_html('<input type="hidden" name="key" value="{}">', secrets.token_hex(16))


@register.simple_tag
def notice_icon(tone: str) -> SafeString:
    """Draw the icon that goes with the tone of a notice."""
    return icons.icon(NOTICE_ICONS.get(tone, "alert" if tone == "bad" else "info"))


@register.simple_tag
def state(kind: str, word: str) -> SafeString:
    """Draw the badge of a state: kind is cluster, node, job, run, order, payment, refund or invoice."""
    return states.badge(kind, word)


@register.simple_tag
def state_word(kind: str, word: str) -> str:
    """Return the word of a state, for lists of choices."""
    return str(states.look(kind, word).word)


@register.simple_tag
def gpu_grid(
    nodes: Sequence[gpus.NodeBox], size: str = "medium", width: int = 640, label: str = ""
) -> SafeString:
    """Draw the grid of a cluster from the plain boxes of portal/ui/gpus.py."""
    return gpus.grid(nodes, size=size, width=width, label=label)


@register.simple_tag
def gpu_squares(
    nodes: int, gpus_per_node: int, kind: str = "free", size: str = "small", width: int = 320
) -> SafeString:
    """Draw a grid of equal squares: what is offered, chosen or held."""
    return gpus.grid(gpus.plain(nodes, gpus_per_node, kind), size=size, width=width)


@register.simple_tag
def cluster_grid(
    cluster: Any,
    nodes: Sequence[Any],
    runs: Sequence[Any],
    plan: Mapping[str, int] | None = None,
    width: int = 640,
) -> SafeString:
    """Draw who uses a cluster, and which GPUs a planned job would take: GPUs by the name of the node."""
    return gpus.grid(occupancy.picture(cluster, nodes, runs, plan or {}).boxes, size="large", width=width)


@register.simple_tag
def line_chart(series: Sequence[Any], **options: Any) -> SafeString:
    """Draw curves, given as pairs of a name and its points; the options are those of charts.line."""
    drawn = [entry if isinstance(entry, charts.Series) else charts.Series(*entry) for entry in series]
    return charts.line(drawn, **options)


@register.simple_tag
def breakeven_chart(
    amounts: Mapping[str, int], currency: str, chosen_days: float | None = None, chosen: int | None = None
) -> SafeString:
    """Draw cost over days for the units of a price list."""
    return costs.breakeven(amounts, currency, chosen_days=chosen_days, chosen=chosen)


@register.simple_tag
def lease_bar(start: datetime, end: datetime, now: datetime) -> SafeString:
    """Draw a lease with now marked."""
    return bars.lease(start, end, now)


@register.simple_tag
def bar(ratio: float, label: str, tone: str = "") -> SafeString:
    """Draw a filled part of a track."""
    return bars.bar(ratio, label=label, tone=tone)


@register.simple_tag
def sparkline(values: Sequence[float], label: str) -> SafeString:
    """Draw a small curve."""
    return bars.spark(values, label=label)


@register.simple_tag
def node_calendar(
    lanes: Sequence[bars.Lane], start: datetime, end: datetime, now: datetime, label: str
) -> SafeString:
    """Draw nodes over time."""
    return bars.calendar(lanes, start, end, now, label=label)


@register.filter
def money(value: Money | int | None, currency: str = "") -> str:
    """Show money: of a Money, or of minor units with the currency as argument."""
    if value is None:
        return "–"
    return words.money(value if isinstance(value, Money) else Money(int(value), currency))


@register.filter
def gpu_price(value: Money | int | None, currency: str = "") -> str:
    """Show a price per GPU-hour, small; a dash where the unit is not sold."""
    return money(value, currency)


@register.filter
def ago(instant: datetime | None) -> SafeString:
    """Show an instant relative to now, with the exact time on hover."""
    return words.time_tag(instant, "" if instant is None else words.ago(instant, timezone.now()))


@register.filter
def exact(instant: datetime | None) -> SafeString:
    """Show date and time in the reader's zone."""
    return words.time_tag(instant, "" if instant is None else words.exact(instant))


@register.filter
def moment(instant: datetime | None) -> SafeString:
    """Show date and time to the second, for timelines."""
    return words.time_tag(instant, "" if instant is None else words.exact(instant, seconds=True))


@register.filter
def day(instant: datetime | None) -> SafeString:
    """Show the date in the reader's zone."""
    return words.time_tag(instant, "" if instant is None else words.day(instant))


@register.filter
def duration(span: timedelta | float | int | None) -> str:
    """Show a span in its two largest units."""
    return words.duration(span)


@register.filter(name="bytes")
def size(count: int | None) -> str:
    """Show a size in bytes."""
    return words.size(count)


@register.filter
def percent(ratio: float | None) -> str:
    """Show a ratio of 0 to 1 as percent."""
    return words.percent(ratio)


@register.filter
def number(value: Any) -> str:
    """Show a number with separated thousands; a dash for none."""
    return "–" if value is None else words.number(value)


@register.filter
def log_text(text: str) -> SafeString:
    """Show a line of a log: escaped, control characters visible, colours from an allow-list."""
    return logtext.html(text)


@register.filter
def lookup(table: Mapping[str, Any], key: str) -> Any:
    """Return the entry of a table, or nothing."""
    return table.get(key)
