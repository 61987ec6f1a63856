"""From a listing and the texts of its small files to checkpoints."""

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from jobs.checkpoint_keys import groups, rules
from jobs.listing import Item

_LOSS = re.compile(r'"(eval_loss|loss)"\s*:\s*(-?\d[\d.eE+-]{0,30})')
_LIGHTNING_METRIC = re.compile(r"([A-Za-z_][\w/]{0,40})=(-?\d{1,12}(?:\.\d{1,12})?)(?=[-.])")


@dataclass(frozen=True, slots=True)
class Found:
    """A checkpoint: ``key`` is its folder or file relative to the run's checkpoint folder.

    ``layout``: huggingface, deepspeed, megatron, megatron_dist, dcp, lightning, composer, berth. ``metric``
    is a name and a value. ``exact``: the optimizer is in it, so that training goes on as it would have.
    """

    step: int
    layout: str
    key: str
    bytes: int
    complete: bool
    is_file: bool
    metric: tuple[str, float] | None = None
    exact: bool = True


def wanted(listing: Iterable[Item]) -> list[str]:
    """Return the keys of small files whose text :func:`recognise` wants: at most ``READ_BYTES`` of each."""
    items = list(listing)
    keys = set(rules.trackers(items))
    for group in groups.group(items):
        keys.update(f"{group.key}/{name}" for name in rules.small_files(group))
    return sorted(keys)


def recognise(listing: Iterable[Item], texts: Mapping[str, str]) -> list[Found]:
    """Return the checkpoints below a run's folder by step, incomplete ones too; never raises on odd content.

    Keys of ``listing`` and ``texts`` are relative to that folder; a wanted text that is missing makes a
    checkpoint incomplete where its marker stands in it.
    """
    items = {item.key: item for item in listing}
    found = groups.group(items.values())
    families: dict[tuple[str, str], list[groups.Group]] = {}
    for group in found:
        families.setdefault((group.kind, group.parent), []).append(group)
    return [
        Found(
            group.step,
            group.kind,
            group.key,
            group.bytes,
            rules.complete(group, families[group.kind, group.parent], texts, items),
            group.is_file,
            _metric(group, texts),
            rules.has_optimizer(group),
        )
        for group in found
    ]


def _metric(group: groups.Group, texts: Mapping[str, str]) -> tuple[str, float] | None:
    match group.kind:
        case "huggingface":
            return _last_loss(texts.get(f"{group.key}/trainer_state.json", ""))
        case "lightning":
            return _named_in_file(group.key.rpartition("/")[2])
        case "berth":
            return _first_number(texts.get(f"{group.key}/{rules.DONE}", ""))
        case _:
            return None


def _last_loss(text: str) -> tuple[str, float] | None:
    """Return the last evaluated loss, else the last training loss, of a (cut) ``trainer_state.json``."""
    last: dict[str, float] = {}
    for name, number in _LOSS.findall(text):
        value = _number(number)
        if value is not None:
            last[name] = value
    for name in ("eval_loss", "loss"):
        if name in last:
            return name, last[name]
    return None


def _named_in_file(name: str) -> tuple[str, float] | None:
    for word, number in _LIGHTNING_METRIC.findall(name):
        value = _number(number)
        if word not in ("epoch", "step") and value is not None:
            return word, value
    return None


def _first_number(text: str) -> tuple[str, float] | None:
    """Return the first number in a JSON object such as ``{"loss": 2.31}``."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict):
        return None
    for name, value in data.items():
        if not name.isprintable():  # NUL and half characters are JSON, and nothing can store them
            continue
        if isinstance(value, int | float) and not isinstance(value, bool) and name != "step":
            number = _number(str(value))
            if number is not None:
                return name[:40], number
    return None


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
