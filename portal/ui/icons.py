"""Icons as inline SVG: 16 × 16, drawn with the colour of the text around them."""

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

# Each value is the inside of an SVG of our own drawing; nothing from a user ever joins it.
SHAPES = {
    "home": '<path d="M2.5 7.5 8 3l5.5 4.5V13h-4V9.5h-3V13h-4z"/>',
    "rent": '<path d="M8 3v10M3 8h10"/>',
    "grid": '<path d="M2.5 2.5h4.5v4.5h-4.5zM9 2.5h4.5v4.5H9zM2.5 9h4.5v4.5h-4.5zM9 9h4.5v4.5H9z"/>',
    "jobs": '<path d="m5 3.5 7 4.5-7 4.5z"/>',
    "billing": '<path d="M4 2.5h8v11l-2-1.4-2 1.4-2-1.4-2 1.4zM6 6h4M6 8.8h4"/>',
    "settings": '<path d="M2.5 5h6M11.5 5h2M2.5 11h2M7.5 11h6"/>'
    '<circle cx="10" cy="5" r="1.5"/><circle cx="6" cy="11" r="1.5"/>',
    "people": '<circle cx="8" cy="5.5" r="2.5"/><path d="M3 13.5c.6-3 2.6-4 5-4s4.4 1 5 4"/>',
    "nodes": '<path d="M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5h.1M5 11h.1M8 5h3M8 11h3"/>',
    "orders": '<path d="M3 4.5h10l-1 6.5H4.5L3 2.5H1.5"/>'
    '<circle cx="6" cy="13.5" r=".6"/><circle cx="11" cy="13.5" r=".6"/>',
    "bell": '<path d="M4 11V7.5a4 4 0 0 1 8 0V11l1.2 1.2H2.8zM6.8 14h2.4"/>',
    "search": '<circle cx="7" cy="7" r="4"/><path d="m10 10 3.5 3.5"/>',
    "menu": '<path d="M2.5 4.5h11M2.5 8h11M2.5 11.5h11"/>',
    "sun": '<circle cx="8" cy="8" r="2.8"/><path d="M8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3'
    'M3.4 3.4l.9.9M11.7 11.7l.9.9M12.6 3.4l-.9.9M4.3 11.7l-.9.9"/>',
    "moon": '<path d="M13 9.6A5.6 5.6 0 0 1 6.4 3 5.6 5.6 0 1 0 13 9.6z"/>',
    "system": '<path d="M2.5 3h11v7.5h-11zM6 13.5h4M8 10.5v3"/>',
    "language": '<circle cx="8" cy="8" r="5.5"/><path d="M2.5 8h11M8 2.5c-4 3.5-4 7.5 0 11M8 2.5c4 3.5 4 7.5 0 11"/>',
    "check": '<path d="m3 8.5 3.2 3.2L13 4.8"/>',
    "cross": '<path d="m4 4 8 8M12 4l-8 8"/>',
    "alert": '<path d="M8 2.5 14 13H2zM8 6.5v3M8 11.3v.1"/>',
    "info": '<circle cx="8" cy="8" r="5.5"/><path d="M8 7.3v3.5M8 5.2v.1"/>',
    "clock": '<circle cx="8" cy="8" r="5.5"/><path d="M8 4.8V8l2.2 1.5"/>',
    "pause": '<path d="M5.5 3.5v9M10.5 3.5v9"/>',
    "arrow": '<path d="M3 8h9.5M9 4.5 12.5 8 9 11.5"/>',
    "spark": '<path d="M2.5 10.5 6 7l2.5 2.5 5-5.5"/>',
    "anchor": '<circle cx="8" cy="3.6" r="1.4"/><path d="M8 5v8.5M5 7.2h6M2.8 9.5c.4 2.6 2.5 4 5.2 4s4.8-1.4 5.2-4"/>',
    "ring": '<circle cx="8" cy="8" r="4.5"/>',
    "half": '<circle cx="8" cy="8" r="4.5"/><path d="M8 3.5a4.5 4.5 0 0 1 0 9z" fill="currentColor"/>',
    "dot": '<circle cx="8" cy="8" r="4.5" fill="currentColor"/>',
    "dash": '<path d="M4 8h8"/>',
    "undo": '<path d="M3 6.5h6.5a3.5 3.5 0 0 1 0 7H6M5.7 3.5 3 6.5l2.7 3"/>',
    "wrench": '<path d="M13 5a3 3 0 0 1-4 3.5L4.5 13 3 11.5 7.5 7A3 3 0 0 1 11 3L9.5 4.8l1.7 1.7z"/>',
    "folder": '<path d="M2 4h4.5L8 5.5h6V13H2z"/>',
    "file": '<path d="M4 2h5.5L12 4.5V14H4zM9 2v3h3"/>',
    "download": '<path d="M8 2.5V10M5 7.5 8 10.5l3-3M3 13.5h10"/>',
    "print": '<path d="M4.5 6V2.5h7V6M4.5 11H2.5V6h11v5h-2M4.5 9h7v4.5h-7z"/>',
}


def icon(name: str) -> SafeString:
    """Return an icon; it is decoration, so its meaning stands in words beside it."""
    return format_html(
        '<svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">{}</svg>',
        mark_safe(SHAPES[name]),  # noqa: S308 - our own drawings above
    )
