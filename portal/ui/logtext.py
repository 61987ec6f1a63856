"""Lines of logs as HTML: escaped, control characters shown, ANSI colours from an allow-list. Pure."""

import re

from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe

LONGEST = 4000  # characters of a line that a page shows
_CSI = re.compile(r"\x1b\[([0-9;?]*)([@-~])")
_COLOURS = {
    30: "quiet",
    31: "bad",
    32: "good",
    33: "attention",
    34: "info",
    35: "violet",
    36: "teal",
    37: "quiet",
}


def html(text: str) -> SafeString:
    """Return a line for the page; colours hold to the end of the line, other sequences are dropped."""
    cut = len(text) > LONGEST
    parts: list[SafeString] = []
    style: dict[str, str] = {}
    at = 0
    shown = text[:LONGEST]
    for match in _CSI.finditer(shown):
        parts.append(_span(shown[at : match.start()], style))
        at = match.end()
        if match[2] == "m":
            _apply(match[1], style)
    parts.append(_span(shown[at:], style))
    if cut:
        parts.append(format_html('<span class="l-cut"> … +{}</span>', len(text) - LONGEST))
    return mark_safe("".join(parts))  # noqa: S308 - every part is escaped


def visible(text: str) -> str:
    """Return text with control characters as their pictures (␀ to ␟, ␡); tabs stay."""
    return "".join(
        chr(0x2400 + ord(sign)) if ord(sign) < 32 and sign != "\t" else "␡" if sign == "\x7f" else sign
        for sign in text
    )


def _span(text: str, style: dict[str, str]) -> SafeString:
    shown = escape(visible(text))
    if not style or not text:
        return shown
    return format_html('<span class="{}">{}</span>', " ".join(style.values()), shown)


def _apply(codes: str, style: dict[str, str]) -> None:
    for code in codes.split(";"):
        number = int(code) if code.isdigit() and len(code) < 4 else 0
        base = number - 60 if 90 <= number <= 97 else number
        if number == 0:
            style.clear()
        elif number == 1:
            style["weight"] = "l-bold"
        elif base in _COLOURS:
            style["colour"] = f"l-{_COLOURS[base]}"
        elif number == 39:
            style.pop("colour", None)
