"""The table of producers. A row reads one piece of a line; the first that finds something is the one.

Sources: Hugging Face ``ProgressCallback``, Megatron-LM ``training.py``, DeepSpeed ``engine.py``, Composer
``console_logger.py``, torchtitan ``metrics.py``, Lightning ``progress_bar.py``.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from jobs.logparse.text import NAMES, NUMBER, number, whole

Values = dict[str, float]
"""Quantity to value; NaN for a value that is none."""


@dataclass(slots=True)
class Reading:
    """What one piece says. ``step`` None: the producer prints none, so the parser counts."""

    values: Values = field(default_factory=dict)
    step: int | None = None
    total: int | None = None

    def put(self, name: str, word: str, unit: str = "") -> None:
        """Take a value by the name that the producer has for it; unknown names and non-numbers are left."""
        known, value = NAMES.get(name.strip().lower()), number(word, unit)
        if known is not None and value is not None:
            self.values.setdefault(known, value)


Memory = dict[str, Any]
"""What rows remember from line to line: JSON-able."""


@dataclass(frozen=True, slots=True)
class Row:
    """A producer: ``marks`` must all stand in the piece before ``read`` is tried."""

    name: str
    marks: tuple[str, ...]
    read: Callable[[str, Memory], Reading | None]


_PAIR = re.compile(
    r"""['"]([\w/. -]{1,60})['"]\s{0,4}:\s{0,4}(?:['"]([^'"]{0,40})['"]|([^,'"{}\[\]]{1,40}))"""
)
_MEGATRON = re.compile(r"\biteration\s{1,20}(\d{1,15})/\s{0,20}(\d{1,15})\s{0,4}\|")
_MEGATRON_FIELD = re.compile(
    r"^([A-Za-z ]{2,60}?)\s{0,4}(?:\((ms|s|TFLOP/s/GPU)\))?\s{0,4}:\s{0,20}(\S{1,40})$"
)
_MEGATRON_EVAL = re.compile(r"\bvalidation loss at iteration (\d{1,15})\b")
_MEGATRON_EVAL_LOSS = re.compile(rf"\blm loss value:\s{{0,4}}({NUMBER})", re.IGNORECASE)
_MEGATRON_NAN = re.compile(r"\bUnexpected result (?:nan|inf) on rank \d{1,9} at iteration #(\d{1,15})")
_DEEPSPEED_STEP = re.compile(r"\bstep=(\d{1,15}), skipped=\d{1,15}, lr=\[([^\],]{1,40})")
_DEEPSPEED_SPEED = re.compile(r"\bglobal_step=(\d{1,15}), .{0,80}?\bCurrSamplesPerSec=([^,\s]{1,40})")
_OVERFLOW = re.compile(r"\bOVERFLOW! .{0,80}?loss scale: [\d.]{1,30}, reducing to ([\d.]{1,30})")
_COMPOSER_HEAD = re.compile(r"\[(?:epoch=(\d{1,9})(?:/\d{1,9})?\]\[)?batch=(\d{1,15})(?:/(\d{1,15}))?\]:")
_COMPOSER_LINE = re.compile(rf"^\s{{1,20}}(Train|Eval) ([\w/.-]{{1,80}}): ({NUMBER})", re.IGNORECASE)
_BAR = re.compile(
    r"^\s{0,20}(?:Epoch (\d{1,9}):)?\s{0,20}\d{1,3}%\|[^|]{0,400}\| (\d{1,15})/(\d{1,15}) \[([^\]]{0,1000})"
)
_POSTFIX = re.compile(r"([\w/.]{1,60})=([^,\s\]]{1,40})")
_STEP = re.compile(
    r"(?:^|[^\w/.])(?:global[_ ]step|step|steps|iteration|iter)[\s:=#]{1,6}(\d[\d,]{0,17}+)"
    r"(?:\s?(?:/|of)\s?(\d[\d,]{0,17}+))?(?![\w.]\d)",
    re.IGNORECASE,
)
_KNOWN = "|".join(re.escape(name) for name in sorted(NAMES, key=len, reverse=True))
_FIELD = re.compile(
    rf"(?:^|(?<=[^\w/]))({_KNOWN})(?:\s{{0,2}}[:=]\s{{0,6}}|\s{{1,6}})({NUMBER})\s?(%|ms\b)?", re.IGNORECASE
)
_BARE_LOSS = re.compile(rf"(?:^|(?<=[^\w/]))(?:train[ _/])?loss\s?[:=]\s{{0,4}}({NUMBER})", re.IGNORECASE)
_STEP_KEYS, _TOTAL_KEYS = ("step", "global_step"), ("total_steps", "max_steps")


def _hugging_face(piece: str, memory: Memory) -> Reading | None:
    """Dicts as Python or JSON prints them; without a step unless there is a ``step`` in them."""
    start, end = piece.find("{"), piece.rfind("}")
    if start < 0 or end < start:
        return None
    reading = Reading()
    for name, quoted, bare in _PAIR.findall(piece[start : end + 1]):
        word = (quoted or bare).strip()
        if name in _STEP_KEYS + _TOTAL_KEYS and word.isascii() and word.isdigit():
            if name in _STEP_KEYS:
                reading.step = int(word[:18])
            else:
                reading.total = int(word[:18])
        elif name != "train_loss" or "train_runtime" not in piece:
            reading.put(name, word)
    values = reading.values
    if values.get("loss") == 0 and math.isnan(values.get("grad_norm", 0.0)):
        # Hugging Face filters NaN out of the window average, which then shows 0.0.
        values["loss"] = math.nan
    return reading if values else None


def _megatron(piece: str, memory: Memory) -> Reading | None:
    if not (head := _MEGATRON.search(piece)):
        return None
    reading = Reading({}, int(head[1]), int(head[2]))
    nan_iterations = 0.0
    for part in piece[head.end() :].split("|"):
        if not (match := _MEGATRON_FIELD.match(part.strip())):
            continue
        if match[1].strip() == "number of nan iterations":
            nan_iterations = number(match[3]) or 0.0
        reading.put(match[1], match[3], match[2] or "")
    if nan_iterations > 0 and "loss" not in reading.values:
        # Megatron prints no loss field when the average is not a number.
        reading.values["loss"] = math.nan
    return reading


def _megatron_eval(piece: str, memory: Memory) -> Reading | None:
    head, loss = _MEGATRON_EVAL.search(piece), _MEGATRON_EVAL_LOSS.search(piece)
    return _one("eval_loss", loss[1], int(head[1])) if head and loss else None


def _megatron_nan(piece: str, memory: Memory) -> Reading | None:
    match = _MEGATRON_NAN.search(piece)
    return Reading({"loss": math.nan}, int(match[1])) if match else None


def _deepspeed(piece: str, memory: Memory) -> Reading | None:
    if match := _DEEPSPEED_STEP.search(piece):
        return _one("learning_rate", match[2], int(match[1]))
    if match := _DEEPSPEED_SPEED.search(piece):
        return _one("samples_per_second", match[2], int(match[1]))
    return None


def _overflow(piece: str, memory: Memory) -> Reading | None:
    match = _OVERFLOW.search(piece)
    return _one("loss_scale", match[1], memory.get("step", 0)) if match else None


def _composer_head(piece: str, memory: Memory) -> Reading | None:
    """``[batch=120/4800]:`` opens a record; with epochs the batch counts within its epoch."""
    match = _COMPOSER_HEAD.search(piece)
    if not match:
        return None
    step, total = int(match[2]), int(match[3]) if match[3] else None
    if match[1] is not None and total:
        first = memory.setdefault("first_epoch", int(match[1]))
        step += max(0, int(match[1]) - first) * total
        total = None
    memory["record"] = step
    return Reading({}, step, total)


def _composer_line(piece: str, memory: Memory) -> Reading | None:
    match = _COMPOSER_LINE.match(piece)
    if not match or "record" not in memory:
        return None
    name = match[2].lower()
    if match[1].lower() == "eval":
        name = "eval_loss" if name.endswith(("crossentropy", "/loss")) else ""
    elif name.startswith("lr-"):
        name = "lr"
    return _one(name, match[3], memory["record"])


def _bar(piece: str, memory: Memory) -> Reading | None:
    """Progress bars: Lightning's carries the values; the bare one of Hugging Face tells the step."""
    match = _BAR.match(piece)
    if not match:
        return None
    step, total = int(match[2]), int(match[3])
    if match[1] is not None:
        reading = Reading({}, int(match[1]) * total + step)
        for name, word in _POSTFIX.findall(match[4]):
            reading.put(name, word)
        return reading
    if memory.setdefault("bar_total", total) != total:
        return Reading()  # another bar, such as that of an evaluation
    memory["bar"] = step
    return Reading({}, step, total)


def _generic(piece: str, memory: Memory) -> Reading | None:
    """``step 10 loss 2.31`` with any signs between, torchtitan's line, JSON-like ``step=10, loss=2.31``."""
    head = _STEP.search(piece)
    if not head:
        loss = _BARE_LOSS.search(piece)
        return _one("loss", loss[1], None) if loss else None
    reading = Reading({}, whole(head[1]), whole(head[2]) if head[2] else None)
    for name, word, unit in _FIELD.findall(piece):
        reading.put(name, word, unit)
    return reading if reading.values else None


def _one(name: str, word: str, step: int | None) -> Reading:
    reading = Reading({}, step)
    reading.put(name, word)
    return reading


ROWS = (
    Row("hugging_face", ("{", ":", "}"), _hugging_face),
    Row("megatron", ("iteration", "|"), _megatron),
    Row("megatron_eval", ("validation loss at iteration",), _megatron_eval),
    Row("megatron_nan", ("Unexpected result",), _megatron_nan),
    Row("deepspeed", ("step=", ", "), _deepspeed),
    Row("deepspeed_overflow", ("OVERFLOW!",), _overflow),
    Row("composer", ("batch=", "]:"), _composer_head),
    Row("composer_value", (": ",), _composer_line),
    Row("progress_bar", ("%|", "["), _bar),
    Row("generic", (), _generic),
)
