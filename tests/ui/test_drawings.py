"""The makers of SVG and words: well-formed, escaped, honest about emptiness; the contrast of the tokens."""

import math
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
from django.utils import timezone, translation

from billing import states as billing_states
from clusters import states as cluster_states
from core.money import Money
from core.states import Machine
from jobs import states as job_states
from portal.ui import bars, charts, costs, gpus, icons, logtext, occupancy, scale, states, words

NASTY = "<b>&\"'北京 🚢"
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
CSS = Path(__file__).resolve().parents[2] / "portal" / "static" / "berth"


def parsed(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(f"<div>{svg}</div>")


def text_of(svg: str) -> str:
    return "".join(parsed(svg).itertext())


@pytest.mark.parametrize("size", list(gpus.SIZES))
def test_a_grid_has_a_square_per_gpu_and_says_itself_in_words(size: str) -> None:
    squares = [gpus.Square("busy", 3, NASTY), gpus.Square(), gpus.Square("failed"), gpus.Square("draining")]
    svg = gpus.grid([gpus.NodeBox(NASTY, squares), gpus.NodeBox("b", squares)], size=size)
    assert len(re.findall(r'<rect class="g ', svg)) == 8
    assert "2 nodes with 8 GPUs: 2 free, 2 in use, 2 draining, 2 failed" in text_of(svg)
    assert "<b>" not in svg


def test_a_grid_of_a_thousand_gpus_and_of_none() -> None:
    assert gpus.grid(gpus.plain(125, 8), size="small").count("<title>") == 1000
    assert "No GPUs" in gpus.grid([])
    parsed(gpus.grid([gpus.NodeBox("empty")]))


def test_a_line_chart_survives_what_logs_hold() -> None:
    points = [(0, 1.0), (1, math.nan), (2, None), (3, math.inf), (4, 0.5)]
    svg = charts.line([charts.Series(NASTY, points)], title=NASTY, x_unit="step", y_unit="loss")
    assert "<b>" not in svg
    assert "nan" not in svg.lower()
    assert parsed(svg).find(".//table") is not None


@pytest.mark.parametrize("points", [[], [(1, None)]])
def test_a_chart_without_values_says_so(points: list[tuple[float, float | None]]) -> None:
    svg = charts.line([charts.Series("loss", points)], title="Loss", x_unit="step", y_unit="")
    assert "No values yet" in text_of(svg)


def test_one_point_and_one_value_are_drawn() -> None:
    for points in ([(5, 2.0)], [(1, 3.0), (2, 3.0)], [(1, -1e12), (2, 1e12)]):
        parsed(charts.line([charts.Series("x", points)], title="x", x_unit="s", y_unit="u"))


def test_thinning_keeps_ends_and_spikes() -> None:
    points = [(float(n), 100.0 if n == 5000 else 1.0) for n in range(10_000)]
    kept = charts.thin(points)
    assert len(kept) <= charts.MOST_POINTS + 2
    assert (5000.0, 100.0) in kept
    assert (kept[0], kept[-1]) == (points[0], points[-1])


@pytest.mark.parametrize("low,high", [(0, 1), (0.001, 0.0012), (-5, 5), (1e6, 9e6), (3, 3)])
def test_ticks_are_few_and_within(low: float, high: float) -> None:
    first, last = scale.padded(low, high)
    found = scale.ticks(first, last)
    assert first <= low
    assert high <= last
    assert 2 <= len(found) <= 9


def test_break_even_names_where_the_longer_unit_begins_to_pay() -> None:
    svg = costs.breakeven({"day": 100, "month": 2550, "year": 21_900}, "CNY", chosen_days=30, chosen=2550)
    assert "month pays from 26 days" in text_of(svg)
    assert "year pays from 9 months" in text_of(svg)
    parsed(costs.breakeven({"day": 100}, "USD"))
    assert "No values" in text_of(costs.breakeven({}, "CNY"))


def test_bars_stay_within_their_track() -> None:
    for ratio in (-1.0, 0.0, 0.5, 2.0):
        fill = parsed(bars.bar(ratio, label=NASTY)).findall(".//rect")[1]
        assert 0 <= float(fill.get("width", "")) <= 100


@pytest.mark.parametrize("days,word", [(-1, "Starts"), (1, "left"), (3, "Ended")])
def test_a_lease_says_where_it_stands(days: int, word: str) -> None:
    svg = bars.lease(NOW, NOW + timedelta(days=2), NOW + timedelta(days=days))
    assert word in text_of(svg)


def test_a_calendar_clips_and_escapes() -> None:
    slot = bars.Slot(NOW - timedelta(days=9), NOW + timedelta(days=90), "lease", NASTY, "/x")
    past = bars.Slot(NOW - timedelta(days=9), NOW - timedelta(days=8), "lease", "past")
    svg = bars.calendar([bars.Lane(NASTY, [slot, past])], NOW, NOW + timedelta(days=7), NOW, label="x")
    assert svg.count('class="slot') == 1
    assert "<b>" not in svg
    parsed(bars.calendar([], NOW, NOW + timedelta(days=7), NOW, label="x"))


def test_a_sparkline_needs_two_values() -> None:
    assert "–" in bars.spark([1.0], label="x")
    parsed(bars.spark([1.0, 1.0, 2.0], label=NASTY))


def test_occupancy_counts_per_node_and_plans_on_top() -> None:
    kind = SimpleNamespace(gpus_per_node=4)
    cluster = SimpleNamespace(node_type=kind, nodes=2, status="ready")
    nodes = [SimpleNamespace(name=name, state="available") for name in ("a", "b")]
    job = SimpleNamespace(name=NASTY, pk="job_1", replicas=1, gpus_per_replica=2)
    run = SimpleNamespace(job=job, placement=[["a", 1]])
    found = occupancy.picture(cluster, nodes, [run], {"b": 3})
    assert [[square.kind for square in box.squares] for box in found.boxes] == [
        ["busy", "busy", "free", "free"],
        ["plan", "plan", "plan", "free"],
    ]


@pytest.mark.parametrize(
    "line,said",
    [
        ("<script>", "&lt;script&gt;"),
        ("\x1b[31mred\x1b[0m plain", '<span class="l-bad">red</span> plain'),
        ("\x1b[999;1mbold", '<span class="l-bold">bold</span>'),
        ("a\x00b\x07c\tq", "a␀b␇c\tq"),
        ("\x1b]0;title\x07", "␛]0;title␇"),
        ("\x1b[2J\x1b[Hcleared", "cleared"),
    ],
)
def test_log_lines_are_text(line: str, said: str) -> None:
    assert logtext.html(line) == said


def test_a_line_of_a_megabyte_is_cut() -> None:
    assert len(logtext.html("x" * 1_000_000)) < 5000


def test_every_state_of_every_machine_has_a_look() -> None:
    machines = [
        machine
        for module in (billing_states, cluster_states, job_states)
        for machine in vars(module).values()
        if isinstance(machine, Machine)
    ]
    assert len(machines) >= 9
    for machine in machines:
        assert set(machine.states) <= set(states.LOOKS[machine.name]), machine.name
        for word in machine.states:
            parsed(states.badge(machine.name, word))
    assert "strange" in states.badge("job", "strange")


def test_icons_are_well_formed() -> None:
    for name in icons.SHAPES:
        parsed(icons.icon(name))


@pytest.mark.parametrize(
    "value,said",
    [
        (Money(123_456_789, "CNY"), "¥1,234,567.89"),
        (Money(-5, "USD"), "−$0.05"),
        (Money(0, "CNY"), "¥0.00"),
    ],
)
def test_money_in_words(value: Money, said: str) -> None:
    assert words.money(value) == said


@pytest.mark.parametrize(
    "seconds,said",
    [(0, "0 s"), (59, "59 s"), (60, "1 min"), (3725, "1 h 2 min"), (273_600, "3 d 4 h"), (-61, "−1 min 1 s")],
)
def test_durations_in_words(seconds: int, said: str) -> None:
    assert words.duration(seconds) == said


def test_times_are_the_readers() -> None:
    with timezone.override("Asia/Shanghai"):
        assert words.exact(NOW) == "1 Mar 2026 20:00"
        assert words.zone_of(NOW) == "UTC+8"
        with translation.override("zh-hans"):
            assert words.exact(NOW) == "2026年3月1日 20:00"
    with timezone.override("Asia/Kathmandu"):
        assert words.zone_of(NOW) == "UTC+5:45"
    assert words.ago(NOW, NOW + timedelta(minutes=7)) == "7 minutes ago"
    assert words.ago(NOW, NOW - timedelta(days=1)) == "in 1 day"


@pytest.mark.parametrize(
    "count,said", [(0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (123_456_789, "123 MB"), (None, "–")]
)
def test_sizes_in_words(count: int | None, said: str) -> None:
    assert words.size(count) == said


def tokens() -> list[dict[str, str]]:
    """Return the light set and the two spellings of the dark one."""
    blocks = re.findall(r":root[^{]*\{([^}]*)\}", (CSS / "tokens.css").read_text())
    return [dict(re.findall(r"--([a-z0-9-]+):\s*(#[0-9a-f]{6});", block)) for block in blocks]


def test_both_spellings_of_the_dark_theme_are_one() -> None:
    _light, system, chosen = tokens()
    assert system == chosen
    assert len(system) > 30


TONES = ("good", "attention", "bad", "info", "quiet")
PAIRS = [
    *[(ink, ground) for ink in ("ink", "ink-soft") for ground in ("ground", "surface", "sunken")],
    *[(tone, f"{tone}-soft") for tone in TONES], *[(tone, "surface") for tone in TONES],
    ("accent", "surface"), ("accent", "ground"), ("accent-strong", "accent-soft"), ("on-accent", "accent"),
    ("ink", "info-soft"), ("ink", "good-soft"), ("ink", "bad-soft"), ("ink", "attention-soft"),
]  # fmt: skip
MARKS = ["line-strong", "focus", "gpu-free-line", *(f"hue-{n}" for n in range(1, 9))]


@pytest.mark.parametrize("theme", [0, 1])
def test_text_has_the_contrast_of_aa(theme: int) -> None:
    found = tokens()[theme]
    for ink, ground in PAIRS:
        assert contrast(found[ink], found[ground]) >= 4.5, (ink, ground)
    for mark in MARKS:
        assert contrast(found[mark], found["surface"]) >= 3, mark


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of WCAG 2."""
    first, second = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (first + 0.05) / (second + 0.05)


def _luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_style_files_are_short_and_layered() -> None:
    for path in CSS.glob("*.css"):
        lines = path.read_text().splitlines()
        assert len(lines) <= 300, path.name
        assert any(line.startswith("@layer") for line in lines), path.name
