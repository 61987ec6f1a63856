"""Pieces of log lines: cutting, colours, numbers, and the many names of one quantity. All in linear time."""

import re

PIECE_MAX = 4096
PIECES_MAX = 64

_ANSI = re.compile(r"\x1b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b]{0,256}(?:\x07|\x1b\\)|[@-Z\\-_])")
NUMBER = r"[-+]?(?:\d[\d,]{0,30}(?:\.\d{0,30})?|\.\d{1,30})(?:[eE][-+]?\d{1,5})?|[-+]?(?:nan|inf(?:inity)?)\b"

# What producers call it, lower case, with spaces and slashes as they print them.
NAMES = {
    "loss": "loss",
    "lm loss": "loss",
    "train loss": "loss",
    "train_loss": "loss",
    "train/loss": "loss",
    "train_loss_step": "loss",
    "training_loss": "loss",
    "training loss": "loss",
    "loss/train/total": "loss",
    "eval_loss": "eval_loss",
    "eval loss": "eval_loss",
    "eval/loss": "eval_loss",
    "val_loss": "eval_loss",
    "val loss": "eval_loss",
    "val/loss": "eval_loss",
    "valid_loss": "eval_loss",
    "validation_loss": "eval_loss",
    "validation loss": "eval_loss",
    "test_loss": "eval_loss",
    "learning_rate": "learning_rate",
    "learning rate": "learning_rate",
    "lr": "learning_rate",
    "grad_norm": "grad_norm",
    "grad norm": "grad_norm",
    "l2_norm/grad/global": "grad_norm",
    "tokens_per_second": "tokens_per_second",
    "tokens_per_sec": "tokens_per_second",
    "throughput/tokens_per_sec": "tokens_per_second",
    "tokens/s": "tokens_per_second",
    "tokens/sec": "tokens_per_second",
    "tok/s": "tokens_per_second",
    "tps": "tokens_per_second",
    "samples_per_second": "samples_per_second",
    "samples per second": "samples_per_second",
    "throughput/samples_per_sec": "samples_per_second",
    "train_samples_per_second": "samples_per_second",
    "samples/s": "samples_per_second",
    "samples/sec": "samples_per_second",
    "currsamplespersec": "samples_per_second",
    "step_seconds": "step_seconds",
    "step_time": "step_seconds",
    "step time": "step_seconds",
    "elapsed time per iteration": "step_seconds",
    "throughput per gpu": "tflops",
    "tflops": "tflops",
    "mfu": "mfu",
    "throughput/device/mfu": "mfu",
    "loss_scale": "loss_scale",
    "loss scale": "loss_scale",
}


def pieces(line: str) -> list[str]:
    """Return the parts of a line between carriage returns, without colours.

    Progress bars rewrite themselves with carriage returns. Of a longer line the last ``PIECES_MAX`` parts are
    kept and ``PIECE_MAX`` characters of each: no producer writes more, and time stays linear.
    """
    parts = line.rsplit("\r", PIECES_MAX)[-PIECES_MAX:] if "\r" in line else [line]
    cleaned = (_ANSI.sub("", part[:PIECE_MAX]) for part in parts)
    return [part for part in cleaned if part.strip()]


def number(text: str, unit: str = "") -> float | None:
    """Return a number that may be quoted, have thousands commas or a percent sign; None for what is none.

    NaN and infinity are numbers here. ``unit`` ``ms`` gives seconds, ``%`` gives a ratio.
    """
    word = text.strip().strip("'\"").replace(",", "")
    if word.endswith("%"):
        word, unit = word[:-1], "%"
    try:
        value = float(word)
    except ValueError:
        return None
    if unit == "ms":
        return value / 1000
    return value / 100 if unit == "%" else value


def whole(text: str) -> int:
    """Return a count that may have thousands commas."""
    return int(text.replace(",", ""))
