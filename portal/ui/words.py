"""Values in words: money, prices, times in the reader's zone, spans, sizes. Every word is translatable."""

from datetime import datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

from django.utils import formats, timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext, ngettext, pgettext

from core.money import MINOR_UNITS, Money

SIGNS = {"CNY": "¥", "USD": "$"}
MINUS = "−"


def money(value: Money, *, whole: bool = False) -> str:
    """Return ``¥12,345.60``; ``whole`` leaves out the minor units when they are zero."""
    major, minor = divmod(abs(value.amount), MINOR_UNITS)
    text = f"{major:,}" if whole and not minor else f"{major:,}.{minor:02d}"
    return f"{MINUS if value.amount < 0 else ''}{SIGNS[value.currency]}{text}"


def number(value: int | float | Decimal) -> str:
    """Return a number with separated thousands and at most two decimals, without trailing zeros."""
    text = f"{value:,.2f}" if not isinstance(value, int) else f"{value:,}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return text.replace("-", MINUS)


def percent(ratio: float | None) -> str:
    """Return a ratio of 0 to 1 as percent; a dash when it is not known."""
    return "–" if ratio is None else f"{number(round(ratio * 100, 1))} %"


def size(count: int | None) -> str:
    """Return bytes with a decimal unit: ``1.2 GB``."""
    if count is None:
        return "–"
    value, units = float(count), ["B", "kB", "MB", "GB", "TB", "PB"]
    while value >= 1000 and len(units) > 1:
        value /= 1000
        units.pop(0)
    return f"{value:.0f} {units[0]}" if value >= 100 or units[0] == "B" else f"{value:.1f} {units[0]}"


def duration(span: timedelta | float | int | None) -> str:
    """Return a span in its two largest units: ``3 d 4 h``, ``12 min 5 s``."""
    if span is None:
        return "–"
    seconds = int(span.total_seconds() if isinstance(span, timedelta) else span)
    sign, seconds = (MINUS, -seconds) if seconds < 0 else ("", seconds)
    days, rest = divmod(seconds, 86400)
    hours, rest = divmod(rest, 3600)
    minutes, left = divmod(rest, 60)
    units = [
        (days, pgettext("short unit of time", "{n} d")),
        (hours, pgettext("short unit of time", "{n} h")),
        (minutes, pgettext("short unit of time", "{n} min")),
        (left, pgettext("short unit of time", "{n} s")),
    ]
    first = next((index for index, (value, _) in enumerate(units) if value), len(units) - 1)
    shown = [unit.format(n=value) for value, unit in units[first : first + 2] if value]
    return sign + " ".join(shown or [units[-1][1].format(n=0)])


def ago(instant: datetime, now: datetime) -> str:
    """Return how far an instant lies from now, in its largest unit: ``5 min ago``, ``in 3 d``."""
    span = (now - instant).total_seconds()
    if abs(span) < 5:
        return gettext("now")
    text = _largest(abs(span))
    return gettext("{span} ago").format(span=text) if span > 0 else gettext("in {span}").format(span=text)


def _largest(seconds: float) -> str:
    if seconds >= 86400:
        count = int(seconds // 86400)
        return ngettext("{n} day", "{n} days", count).format(n=count)
    if seconds >= 3600:
        count = int(seconds // 3600)
        return ngettext("{n} hour", "{n} hours", count).format(n=count)
    if seconds >= 60:
        count = int(seconds // 60)
        return ngettext("{n} minute", "{n} minutes", count).format(n=count)
    count = int(seconds)
    return ngettext("{n} second", "{n} seconds", count).format(n=count)


def local(instant: datetime) -> datetime:
    """Return an instant in the zone of the reader, which the portal activates per request."""
    return timezone.localtime(instant)


def exact(instant: datetime, *, seconds: bool = False) -> str:
    """Return date and time in the reader's zone; the year only when it is not the present one."""
    there = local(instant)
    return f"{day(instant)} {there:%H:%M:%S}" if seconds else f"{day(instant)} {there:%H:%M}"


def day(instant: datetime) -> str:
    """Return the date in the reader's zone, in the manner of the language."""
    there = local(instant)
    if (get_language() or "").startswith("zh"):
        return f"{there.year}年{there.month}月{there.day}日"
    return f"{there.day} {formats.date_format(there, 'M')} {there.year}"


def zone_of(instant: datetime) -> str:
    """Return the short name of the reader's zone at an instant, such as ``UTC+8``."""
    offset = local(instant).utcoffset() or timedelta()
    minutes = int(offset.total_seconds() // 60)
    hours, rest = divmod(abs(minutes), 60)
    if not minutes:
        return "UTC"
    return f"UTC{'+' if minutes > 0 else MINUS}{hours}" + (f":{rest:02d}" if rest else "")


def time_tag(instant: datetime | None, text: str) -> SafeString:
    """Return a ``<time>`` with the exact time and zone on hover."""
    if instant is None:
        return format_html("<span>{}</span>", "–")
    title = f"{exact(instant, seconds=True)} {zone_of(instant)}"
    return format_html('<time datetime="{}" title="{}">{}</time>', instant.isoformat(), title, text)


def zone(name: str) -> ZoneInfo:
    """Return a zone by its name; UTC for one that this machine does not know."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return ZoneInfo("UTC")
