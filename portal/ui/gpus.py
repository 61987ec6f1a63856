"""The signature: a cluster as squares, one per GPU, grouped by node. Plain values in, SVG out."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext

HUES = 8
KINDS = ("free", "held", "plan", "busy", "draining", "failed", "off")
_ids = count(1)


@dataclass(frozen=True, slots=True)
class Square:
    """One GPU: what it does (a kind above), for a busy one the hue of its job (1 to 8), and what to say."""

    kind: str = "free"
    hue: int = 0
    title: str = ""


@dataclass(frozen=True, slots=True)
class NodeBox:
    """One node with its squares in order."""

    name: str
    squares: Sequence[Square] = field(default=())


@dataclass(frozen=True, slots=True)
class Size:
    """Edge of a square, gap, inner margin and whether nodes carry their name."""

    edge: int
    gap: int
    pad: int
    named: bool


SIZES = {"small": Size(7, 2, 3, False), "medium": Size(13, 3, 5, False), "large": Size(20, 4, 8, True)}


def hue_of(position: int) -> int:
    """Return the hue of the n-th job (from 0) of a cluster."""
    return position % HUES + 1


def grid(nodes: Sequence[NodeBox], *, size: str = "medium", width: int = 640, label: str = "") -> SafeString:
    """Draw nodes as boxes of squares, as many in a row as fit the width; says so in words too."""
    if not nodes:
        return format_html('<p class="soft small">{}</p>', gettext("No GPUs to show."))
    form = SIZES[size]
    most = max(len(node.squares) for node in nodes)
    across = min(most, 4 if size == "large" else 8) or 1
    down = -(-most // across)
    head = 16 if form.named else 0
    box_w = across * (form.edge + form.gap) - form.gap + 2 * form.pad
    box_h = down * (form.edge + form.gap) - form.gap + 2 * form.pad
    step_x, step_y = box_w + 2 * form.gap, box_h + head + 2 * form.gap
    per_row = max(1, min(len(nodes), (width + 2 * form.gap) // step_x))
    rows = -(-len(nodes) // per_row)
    per_row = -(-len(nodes) // rows)  # rows of about equal length
    total_w, total_h = per_row * step_x - 2 * form.gap, rows * step_y - 2 * form.gap
    parts = [
        _node(node, index % per_row * step_x, index // per_row * step_y, form, across, (box_w, box_h, head))
        for index, node in enumerate(nodes)
    ]
    name = f"gpus{next(_ids)}"
    return format_html(
        '<svg class="gpus {}" viewBox="-1 -1 {} {}" width="{}" height="{}" role="img" aria-labelledby="{}">'
        '<title id="{}">{}</title>{}</svg>',
        size, total_w + 2, total_h + 2, total_w + 2, total_h + 2, name, name,
        label or describe(nodes),
        format_html_join("", "{}", ((part,) for part in parts)),
    )  # fmt: skip


def _node(node: NodeBox, x: int, y: int, form: Size, across: int, box: tuple[int, int, int]) -> SafeString:
    width, height, head = box
    name = (
        format_html(
            '<text class="node-name" x="{}" y="{}">{}</text>', x + 1, y + 11, _short(node.name, width)
        )
        if form.named
        else ""
    )
    squares = format_html_join(
        "",
        "{}",
        (
            (
                _square(
                    square,
                    x + form.pad + index % across * (form.edge + form.gap),
                    y + head + form.pad + index // across * (form.edge + form.gap),
                    form.edge,
                    node.name,
                ),
            )
            for index, square in enumerate(node.squares)
        ),
    )
    return format_html(
        '{}<rect class="node-frame" x="{}" y="{}" width="{}" height="{}" rx="{}"/>{}',
        name, x, y + head, width, height, min(form.pad, 6), squares,
    )  # fmt: skip


def _square(square: Square, x: int, y: int, edge: int, node: str) -> SafeString:
    hue = f" h{square.hue}" if square.kind == "busy" and square.hue else ""
    mark: SafeString | str = ""
    if square.kind == "failed":
        mark = format_html(
            '<path class="mark failed" d="M{} {}l{} {}m0 {}l{} {}"/>',
            x + 2, y + 2, edge - 4, edge - 4, -(edge - 4), -(edge - 4), edge - 4,
        )  # fmt: skip
    elif square.kind == "draining":
        mark = format_html(
            '<path class="mark draining" d="M{} {}l{} {}"/>', x + 2, y + edge - 2, edge - 4, -(edge - 4)
        )
    return format_html(
        '<g><rect class="g {}{}" x="{}" y="{}" width="{}" height="{}" rx="{}"/>{}<title>{}</title></g>',
        square.kind if square.kind in KINDS else "off", hue, x, y, edge, edge, 1 if edge < 10 else 2, mark,
        f"{node} · {square.title or kind_word(square.kind)}",
    )  # fmt: skip


def _short(name: str, width: int) -> str:
    room = max(4, width // 6)
    return name if len(name) <= room else f"{name[: room - 1]}…"


def kind_word(kind: str) -> str:
    """Return what a square of a kind means."""
    return {
        "free": gettext("free"),
        "held": gettext("held for you"),
        "plan": gettext("this job would take it"),
        "busy": gettext("in use"),
        "draining": gettext("draining"),
        "failed": gettext("failed"),
    }.get(kind, gettext("not available"))


def describe(nodes: Sequence[NodeBox]) -> str:
    """Return the grid in one sentence, for readers who do not see it."""
    squares = [square for node in nodes for square in node.squares]
    counts = {kind: sum(square.kind == kind for square in squares) for kind in KINDS}
    head = ngettext("{n} node with {g} GPUs", "{n} nodes with {g} GPUs", len(nodes)).format(
        n=len(nodes), g=len(squares)
    )
    return f"{head}: " + ", ".join(f"{n} {kind_word(kind)}" for kind, n in counts.items() if n)


def plain(nodes: int, gpus_per_node: int, kind: str = "free", name: str = "") -> list[NodeBox]:
    """Return a grid in which every square is alike: what one buys, what is held."""
    word = name or gettext("node")
    return [NodeBox(f"{word} {index + 1}", [Square(kind)] * gpus_per_node) for index in range(nodes)]
