"""Line charts as SVG with units, light grid, direct labels, exact values, and the same data as a table."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from portal.ui import scale

HEIGHT = 220
WIDE, NARROW = 500, 340
LEFT, RIGHT, TOP, BOTTOM = 52, 78, 22, 36
MOST_POINTS = 240
MOST_MARKS = 60
_ids = count(1)
Point = tuple[float, float]
Words = Callable[[float], str]


@dataclass(frozen=True, slots=True)
class Series:
    """A named curve; points without a finite value break it."""

    name: str
    points: Sequence[tuple[float, float | None]]
    steps: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    """A vertical line at ``x`` with a word, or a dot when ``y`` is given."""

    x: float
    word: str
    y: float | None = None


def finite(points: Sequence[tuple[float, float | None]]) -> list[Point]:
    """Return the points that have a finite value."""
    return [(x, y) for x, y in points if y is not None and math.isfinite(y)]


def thin(points: Sequence[Point], most: int = MOST_POINTS) -> list[Point]:
    """Return at most about so many points; each stretch keeps its lowest and highest, so spikes stay."""
    if len(points) <= most:
        return list(points)
    stretch = math.ceil(len(points) / (most // 2))
    kept: list[Point] = []
    for at in range(0, len(points), stretch):
        part = points[at : at + stretch]
        ends = {min(part, key=lambda p: p[1]), max(part, key=lambda p: p[1])}
        kept.extend(sorted(ends))
    return [points[0], *kept[1:-1], points[-1]]


def line(
    series: Sequence[Series],
    *,
    title: str,
    x_unit: str,
    y_unit: str,
    x_words: Words = scale.short,
    y_words: Words = scale.short,
    marks: Sequence[Mark] = (),
    from_zero: bool = False,
    empty: str = "",
    table_id: str = "",
    width: int = WIDE,
) -> SafeString:
    """Draw curves over one axis pair as a figure with caption and table; ``width`` suits the place."""
    curves = [(entry, thin(finite(entry.points))) for entry in series]
    filled = [points for _, points in curves if points]
    if not filled:
        return format_html(
            '<figure class="chart-figure"><figcaption>{}</figcaption><p class="soft small">{}</p></figure>',
            title,
            empty or gettext("No values yet. The chart draws itself as they come."),
        )
    xs = [x for points in filled for x, _ in points]
    ys = [y for points in filled for _, y in points]
    low, high = scale.padded(min([0.0, *ys]) if from_zero else min(ys), max(ys))
    first, last = min(xs), max(xs)
    across = scale.Scale(first, last if last > first else first + 1, LEFT, width - RIGHT)
    up = scale.Scale(low, high, HEIGHT - BOTTOM, TOP)
    name = f"chart{next(_ids)}"
    body = format_html(
        "{}{}{}{}",
        _axes(across, up, (x_unit, y_unit), (x_words, y_words)),
        _marks(marks, across, up),
        format_html_join(
            "",
            "{}",
            ((_curve(entry, points, number, across, up),) for number, (entry, points) in _numbered(curves)),
        ),
        _labels(curves, across, up, (x_words, y_words), (x_unit, y_unit)),
    )
    return format_html(
        '<figure class="chart-figure"><figcaption>{}</figcaption>'
        '<svg class="chart{}" viewBox="0 0 {} {}" role="img" aria-labelledby="{}"><title id="{}">{}</title>{}</svg>{}</figure>',
        title, " narrow" if width < WIDE else "", width, HEIGHT, name, name, _summary(title, curves, y_words, y_unit), body,
        _table(curves, (x_unit, y_unit), (x_words, y_words), table_id),
    )  # fmt: skip


def _numbered(curves: list[tuple[Series, list[Point]]]) -> list[tuple[int, tuple[Series, list[Point]]]]:
    return [(index % 4 + 1, entry) for index, entry in enumerate(curves) if entry[1]]


def _axes(
    across: scale.Scale, up: scale.Scale, units: tuple[str, str], words: tuple[Words, Words]
) -> SafeString:
    rules = format_html_join(
        "",
        '<line class="rule" x1="{}" x2="{}" y1="{}" y2="{}"/><text x="{}" y="{}" text-anchor="end">{}</text>',
        (
            (LEFT, across.stop, up.at(value), up.at(value), LEFT - 6, up.at(value) + 4, words[1](value))
            for value in scale.ticks(up.low, up.high)
        ),
    )
    feet = format_html_join(
        "",
        '<line class="axis" x1="{}" x2="{}" y1="{}" y2="{}"/><text x="{}" y="{}" text-anchor="middle">{}</text>',
        (
            (across.at(v), across.at(v), HEIGHT - BOTTOM, HEIGHT - BOTTOM + 4, across.at(v), HEIGHT - BOTTOM + 16, words[0](v))
            for v in scale.ticks(across.low, across.high, 6)
        ),
    )  # fmt: skip
    return format_html(
        '{}<line class="axis" x1="{}" x2="{}" y1="{}" y2="{}"/>{}'
        '<text x="{}" y="{}" text-anchor="end">{}</text><text x="{}" y="11">{}</text>',
        rules, LEFT, across.stop, HEIGHT - BOTTOM, HEIGHT - BOTTOM, feet,
        across.stop, HEIGHT - 4, units[0], 2, units[1],
    )  # fmt: skip


def _marks(marks: Sequence[Mark], across: scale.Scale, up: scale.Scale) -> SafeString:
    shown = [mark for mark in marks if across.low <= mark.x <= across.high]
    middle = (across.start + across.stop) / 2
    rows = [
        (
            across.at(m.x),
            up.stop + 8 + 13 * index,
            *((-4, "end") if across.at(m.x) > middle else (4, "start")),
            m.word,
        )
        for index, m in enumerate(m for m in shown if m.y is None)
    ]
    lines = format_html_join(
        "",
        '<line class="now" x1="{}" x2="{}" y1="{}" y2="{}"/><text x="{}" y="{}" text-anchor="{}">{}</text>',
        ((x, x, up.stop, up.start, x + aside, y, anchor, word) for x, y, aside, anchor, word in rows),
    )
    dots = format_html_join(
        "",
        '<circle class="dot f2" cx="{}" cy="{}" r="5" tabindex="0"><title>{}</title></circle>',
        ((across.at(m.x), up.at(m.y), m.word) for m in shown if m.y is not None),
    )
    return format_html("{}{}", lines, dots)


def _path(points: Sequence[Point], across: scale.Scale, up: scale.Scale, steps: bool) -> str:
    parts: list[str] = []
    for x, y in points:
        if not parts:
            parts.append(f"M{across.at(x)} {up.at(y)}")
        elif steps:
            parts.append(f"H{across.at(x)}V{up.at(y)}")
        else:
            parts.append(f"L{across.at(x)} {up.at(y)}")
    return "".join(parts)


def _curve(
    entry: Series, points: list[Point], number: int, across: scale.Scale, up: scale.Scale
) -> SafeString:
    if len(points) == 1:
        x, y = points[0]
        return format_html('<circle class="f{}" cx="{}" cy="{}" r="3"/>', number, across.at(x), up.at(y))
    return format_html('<path class="curve s{}" d="{}"/>', number, _path(points, across, up, entry.steps))


def _labels(
    curves: list[tuple[Series, list[Point]]],
    across: scale.Scale,
    up: scale.Scale,
    words: tuple[Words, Words],
    units: tuple[str, str],
) -> SafeString:
    ends = sorted(
        ((up.at(points[-1][1]), number, entry, points) for number, (entry, points) in _numbered(curves)),
        key=lambda e: e[0],
    )
    names: list[tuple[object, ...]] = []
    floor = 0.0
    for y, number, entry, points in ends:
        floor = max(y + 4, floor + 13)
        names.append((f"f{number}", across.at(points[-1][0]) + 6, floor, entry.name))
    dots: list[tuple[object, ...]] = []
    for number, (entry, points) in _numbered(curves):
        every = max(1, len(points) // MOST_MARKS)
        for x, y in points[::every]:
            said = f"{entry.name}: {words[1](y)} {units[1]} ({words[0](x)} {units[0]})"
            dots.append((number, across.at(x), up.at(y), said))
    return format_html(
        "{}{}",
        format_html_join(
            "", '<circle class="point f{}" cx="{}" cy="{}" r="5"><title>{}</title></circle>', dots
        ),
        format_html_join("", '<text class="label {}" x="{}" y="{}">{}</text>', names),
    )


def _summary(title: str, curves: list[tuple[Series, list[Point]]], words: Words, unit: str) -> str:
    ends = "; ".join(
        gettext("{name} from {first} to {last} {unit}").format(
            name=entry.name, first=words(points[0][1]), last=words(points[-1][1]), unit=unit
        )
        for entry, points in curves
        if points
    )
    return f"{title}. {ends}"


def _table(
    curves: list[tuple[Series, list[Point]]],
    units: tuple[str, str],
    words: tuple[Words, Words],
    table_id: str,
) -> SafeString:
    filled = [(entry, thin(points, MOST_MARKS)) for entry, points in curves if points]
    xs = sorted({x for _, points in filled for x, _ in points})
    columns = [dict(points) for _, points in filled]
    head = format_html_join(
        "", '<th class="num" scope="col">{}</th>', ((f"{e.name} ({units[1]})",) for e, _ in filled)
    )
    rows = format_html_join(
        "",
        '<tr><td class="num">{}</td>{}</tr>',
        (
            (
                words[0](x),
                format_html_join(
                    "",
                    '<td class="num">{}</td>',
                    ((words[1](column[x]) if x in column else "",) for column in columns),
                ),
            )
            for x in xs
        ),
    )
    return format_html(
        '<details class="more" id="{}"><summary>{}</summary><div class="table-frame" tabindex="0"><table class="compact">'
        '<thead><tr><th class="num" scope="col">{}</th>{}</tr></thead><tbody>{}</tbody></table></div></details>',
        table_id or f"table{next(_ids)}", gettext("Show as table"), units[0], head, rows,
    )  # fmt: skip
