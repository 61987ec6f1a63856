"""The log lines of public trainers become points; anything else never stops the parser, or slows it."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.logparse import Parser, Progress

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
MEGATRON = (
    " [2026-05-01 10:00:00.123456] iteration      120/   50000 | consumed samples:        61440 | "
    "elapsed time per iteration (ms): 5312.4 | throughput per GPU (TFLOP/s/GPU): 431.0 | "
    "learning rate: 1.200000E-04 | global batch size:   512 | {loss}loss scale: 1.0 | grad norm: 0.842 | "
    "number of skipped iterations:   0 | number of nan iterations:   {nan} |"
)
BLOOM = (
    " iteration      130/   50000 | consumed samples:        61440 | consumed tokens:    125829120 | "
    "elapsed time per iteration (s): 105.20 | learning rate: 6.000E-05 | lm loss: 2.5E+00 | "
    "samples per second: 19.56 | TFLOPs: 149.8 |"
)
TITAN = (
    "[titan] \x1b[32mstep: 10  \x1b[33mloss:  7.12345  \x1b[0mgrad_norm:  1.2345  memory: 61.20GiB(77.10%)  "
    "tps: 6,667  \x1b[36mtflops: 386.10  mfu: 39.02%\x1b[0m"
)
LIGHTNING = "Epoch 2:  12%|#2 | 120/1000 [00:35<04:20,  3.38it/s, v_num=3, train_loss=2.310]"


def read(*lines: str, parser: Parser | None = None) -> list[tuple[str, int, float | None]]:
    parser = parser or Parser()
    return [
        (point.name, point.step, point.value)
        for n, line in enumerate(lines, start=1)
        for point in parser.feed(n, NOW, line)
    ]


@pytest.mark.parametrize(
    ("line", "step", "values"),
    [
        (
            MEGATRON.format(loss="lm loss: 4.123456E+00 | ", nan=0),
            120,
            {"loss": 4.123456, "learning_rate": 1.2e-4, "grad_norm": 0.842, "loss_scale": 1.0}
            | {"step_seconds": 5.3124, "tflops": 431.0},
        ),
        (
            BLOOM,
            130,
            {"loss": 2.5, "learning_rate": 6e-5, "step_seconds": 105.2}
            | {"samples_per_second": 19.56, "tflops": 149.8},
        ),
        (
            " validation loss at iteration 1000 on validation set | lm loss value: 3.125E+00 | PPL: 2 |",
            1000,
            {"eval_loss": 3.125},
        ),
        (
            "[2026-05-01 10:00:00,123] [INFO] [logging.py:107:log_dist] [Rank 0] step=100, skipped=2, "
            "lr=[5e-05], mom=[(0.9, 0.95)]",
            100,
            {"learning_rate": 5e-5},
        ),
        (
            "x epoch=0/micro_step=400/global_step=100, RunningAvgSamplesPerSec=41.2, CurrSamplesPerSec=40.9, "
            "MemAllocated=12.1GB, MaxMemAllocated=38.5GB",
            100,
            {"samples_per_second": 40.9},
        ),
        (
            TITAN,
            10,
            {
                "loss": 7.12345,
                "grad_norm": 1.2345,
                "tokens_per_second": 6667.0,
                "tflops": 386.1,
                "mfu": 0.3902,
            },
        ),
        (LIGHTNING, 2120, {"loss": 2.31}),
        ("step 10 loss 2.31", 10, {"loss": 2.31}),
        ("step=10 loss=2.31 lr=1e-4", 10, {"loss": 2.31, "learning_rate": 1e-4}),
        (
            "INFO:root:Step 10/20 | Loss: 2.3 | tok/s: 1,024.5",
            10,
            {"loss": 2.3, "tokens_per_second": 1024.5},
        ),
        ("iter 10: loss 2.3123, time 120.11ms, mfu 38.2%", 10, {"loss": 2.3123, "mfu": 0.382}),
        ("step 250: train loss 2.25, val loss 2.5", 250, {"loss": 2.25, "eval_loss": 2.5}),
        (
            "[rank0]: iteration: 1,200, training loss: 0.5, step time: 250 ms",
            1200,
            {"loss": 0.5, "step_seconds": 0.25},
        ),
        ('{"step": 7, "loss": 2.5, "lr": 0.001}', 7, {"loss": 2.5, "learning_rate": 0.001}),
        ("{'loss': '2.5', 'step': '7'}", 7, {"loss": 2.5}),
        ("step 5 loss nan", 5, {"loss": None}),
        ("step 5 loss -inf", 5, {"loss": None}),
        ("step 5 loss 1e999", 5, {"loss": None}),
    ],
)
def test_each_producer(line: str, step: int, values: dict[str, float | None]) -> None:
    assert {name: value for name, _, value in read(line)} == pytest.approx(values)
    assert {where for _, where, _ in read(line)} == {step}


@pytest.mark.parametrize(
    "line",
    [
        "",
        "loss of signal in 3 places",
        "step by step to a loss",
        "step 1.5 loss 2.0",
        "saved checkpoint at step 10",
        "{'loss': None}",
        "{'note': 'loss'}",
        "Loading checkpoint shards: 100%|##########| 2/2 [00:01<00:00,  1.9it/s]",
        "    Train loss/train/total: 3.2104",
        "step " + "9" * 40 + " loss 1.0",
        "iteration 1 | nothing",
    ],
)
def test_what_is_no_reading(line: str) -> None:
    assert read(line) == []


def test_hugging_face_counts_its_lines_where_it_prints_no_step() -> None:
    parser = Parser()
    points = read(
        "{'loss': 2.3104, 'grad_norm': 1.27, 'learning_rate': 4.8e-05, 'epoch': 0.13}",
        "{'loss': '2.31', 'grad_norm': '1.27', 'learning_rate': '4.8e-05', 'epoch': '0.26'}",
        "{'eval_loss': 2.5, 'eval_runtime': 3.0, 'epoch': 0.26}",
        "{'loss': 0.0, 'grad_norm': nan, 'learning_rate': 4e-05, 'epoch': 0.4}",
        "{'train_runtime': 812.4, 'train_samples_per_second': 31.5, 'train_loss': 2.1, 'epoch': 1.0}",
        parser=parser,
    )
    assert [one for one in points if one[0] == "loss"] == [
        ("loss", 1, 2.3104),
        ("loss", 2, 2.31),
        ("loss", 3, None),
    ]
    assert ("eval_loss", 2, 2.5) in points
    assert ("grad_norm", 3, None) in points
    assert ("samples_per_second", 3, 31.5) in points
    assert parser.steps == "index"


def test_hugging_face_takes_the_step_of_its_progress_bar() -> None:
    parser = Parser()
    points = read(
        "Map: 100%|##########| 5000/5000 [00:01<00:00, 4000.00 examples/s]",
        "  0%|          | 0/1000 [00:00<?, ?it/s]\r  1%|          | 9/1000 [00:03<05:30,  3.00it/s]"
        "\r  1%|1         | 10/1000 [00:03<05:30,  3.00it/s]",
        "{'loss': 2.5, 'grad_norm': 1.27, 'learning_rate': 4.8e-05, 'epoch': 0.13}",
        " 50%|#####     | 4/8 [00:00<00:00,  9.00it/s]",
        "\r  2%|2         | 20/1000 [00:06<05:30,  3.00it/s]",
        "{'loss': 2.25, 'epoch': 0.26}",
        parser=parser,
    )
    assert [one for one in points if one[0] == "loss"] == [("loss", 10, 2.5), ("loss", 20, 2.25)]
    assert parser.progress == Progress(20, 1000)
    assert parser.steps == "bar"


def test_megatron_prints_no_loss_when_it_is_not_a_number() -> None:
    assert ("loss", 120, None) in read(MEGATRON.format(loss="", nan=1))
    assert "loss" not in [name for name, _, _ in read(MEGATRON.format(loss="", nan=0))]
    line = "Unexpected result nan on rank 5 at iteration #121 invocation #0 (message='found NaN in local')"
    assert read(line) == [("loss", 121, None)]


def test_deepspeed_overflow_tells_the_loss_scale() -> None:
    line = "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536, reducing to 32768"
    assert read("step 9 loss 2.0", line)[-1] == ("loss_scale", 9, 32768.0)


def test_composer_records_span_lines() -> None:
    points = read(
        "[batch=120/4800]:",
        "\t Train loss/train/total: 3.2104",
        "\t Train throughput/tokens_per_sec: 1000.5",
        "\t Train throughput/device/mfu: 0.41",
        "\t Train lr-DecoupledAdamW/group0: 0.0001",
        "\t Eval metrics/eval/LanguageCrossEntropy: 3.5",
        "\t Train time/train: 0.5",
    )
    assert points == [
        ("loss", 120, 3.2104),
        ("tokens_per_second", 120, 1000.5),
        ("mfu", 120, 0.41),
        ("learning_rate", 120, 0.0001),
        ("eval_loss", 120, 3.5),
    ]


def test_composer_epochs_add_up() -> None:
    lines = ["[epoch=1][batch=3/90]:", " Train loss/train/total: 3.0", "[epoch=2][batch=3/90]:"]
    assert read(*lines, " Train loss/train/total: 2.0") == [("loss", 3, 3.0), ("loss", 93, 2.0)]


def test_progress_bars_rewrite_one_line() -> None:
    bar = "\r".join(LIGHTNING.replace("120/", f"{step}/") for step in (1, 1, 2, 3))
    assert [step for _, step, _ in read(bar)] == [2001, 2002, 2003]


def test_a_step_is_shown_once_and_may_come_back_after_a_restart() -> None:
    lines = ["step 1 loss 3", "step 1 loss 3", "step 2 loss 2", "step 1 loss 3"]
    assert [step for _, step, _ in read(*lines)] == [1, 2, 1]


def test_progress_is_known() -> None:
    parser = Parser()
    assert parser.progress is None
    read("step 10/200 loss 2.31", parser=parser)
    assert parser.progress == Progress(10, 200)
    read("step 11 loss 2.31", parser=parser)
    assert parser.progress == Progress(11, 200)


SAMPLES = [
    *(MEGATRON.format(loss="", nan=1), BLOOM, TITAN, LIGHTNING, "[epoch=1][batch=3/90]:", "[batch=9]:"),
    *("  Train loss/train/total: 3.0", "{'loss': 2.3, 'grad_norm': nan}", "  5%|5 | 10/100 [00:01<00:10]"),
    *("step 10/20 loss 2", "loss=3", "OVERFLOW! Rank 0 x loss scale: 2.2.2, reducing to 1.", "{'loss': {}}"),
]
PIECES = st.sampled_from(
    [*SAMPLES, "\r", "\x1b[31m", "\x1b]", "{", "}", "'", "9" * 30, "|", "nan", "step=", "²"]
)
LINES = st.lists(PIECES | st.text(max_size=20), max_size=5).map("".join) | st.binary(max_size=60).map(
    lambda raw: raw.decode("utf-8", "replace")
)


@given(st.lists(LINES, max_size=12), st.data())
def test_any_text_is_read_and_the_state_goes_on(lines: list[str], data: st.DataObject) -> None:
    whole, parts = Parser(), Parser()
    cut = data.draw(st.integers(0, len(lines)))
    one = read(*lines, parser=whole)
    two = read(*lines[:cut], parser=parts)
    state = json.loads(json.dumps(parts.state, allow_nan=False))
    two += read(*lines[cut:], parser=Parser(state))
    assert one == two
    for name, step, value in one:
        assert name
        assert 0 <= step < 2**63
        json.dumps(value, allow_nan=False)


@pytest.mark.parametrize(
    "unit",
    [
        *(
            "x",
            "loss ",
            "step 1",
            "step=1, ",
            "{'loss': ",
            "'a': 'b', ",
            "\x1b[",
            "\x1b]0;",
            "\r",
            " 5%|",
            "|" * 9,
        ),
        *("loss=1,1", "iteration 1/1 |", "step 1 loss 2 ", "1,", "a=", "[batch=", "train ", "learning rate "),
        *("OVERFLOW! loss scale: ", "global_step=1, ", LIGHTNING + "\r", "step " + "1" * 18 + " "),
    ],
)
@pytest.mark.timeout(20)
def test_megabyte_lines_take_no_longer_than_their_length(unit: str) -> None:
    line = unit * (1_000_000 // len(unit))
    for n in range(10):
        Parser().feed(n, NOW, line)
        Parser().feed(n, NOW, "step 1 loss 2 " + line)
