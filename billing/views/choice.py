"""What a visitor chooses on the rent page, read leniently from a query: a shared link never breaks."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from billing import periods, wording
from clusters.models import NodeType
from core import calendar

SIZES = (8, 16, 32, 64)  # GPUs
LOCAL_TIME = "%Y-%m-%dT%H:%M"


@dataclass(frozen=True, slots=True)
class Choice:
    """Server type, site, size, term and start; ``starts_at`` None is now."""

    node_type: str
    site: str
    nodes: int
    unit: str = "month"
    count: int = 1
    then: tuple[tuple[str, int], ...] = ()
    starts_at: datetime | None = None
    currency: str = "CNY"

    @property
    def term(self) -> dict[str, Any]:
        """The term in the shape that quotes take."""
        rest = [{"unit": unit, "count": count} for unit, count in self.then]
        return {"unit": self.unit, "count": self.count, **({"then": rest} if rest else {})}

    @property
    def then_words(self) -> str:
        """The further parts of the term, in words."""
        return ", ".join(wording.count_of(unit, count) for unit, count in self.then)

    def query(self, zone: str, **changes: Any) -> str:
        """Return the query of this choice, with changes: a link that leads back to it."""
        chosen = replace(self, **changes)
        pairs: dict[str, Any] = {
            "type": chosen.node_type,
            "site": chosen.site,
            "size": "free",
            "nodes": chosen.nodes,
            "unit": chosen.unit,
            "count": chosen.count,
            "currency": chosen.currency,
        }
        if chosen.then:
            pairs["then"] = ",".join(f"{unit}:{count}" for unit, count in chosen.then)
        if chosen.starts_at is not None:
            pairs |= {
                "start": "later",
                "starts_at": calendar.local(chosen.starts_at, zone).strftime(LOCAL_TIME),
            }
        return urlencode(pairs)


def read(query: Mapping[str, str], node_type: NodeType, sites: list[str], zone: str, currency: str) -> Choice:
    """Return the choice of a query for a type that exists; what cannot be read falls back to a default."""
    unit = query.get("unit", "month")
    unit = unit if unit in periods.UNITS else "month"
    wanted = query.get("site", "")
    return Choice(
        node_type=node_type.slug,
        site=wanted if wanted in sites else (sites[0] if sites else ""),
        nodes=_nodes(query, node_type),
        unit=unit,
        count=_whole(query.get("count"), 1),
        then=_then(query.get("then", ""), unit),
        starts_at=_start(query, zone),
        currency=currency,
    )


def sizes(node_type: NodeType) -> list[tuple[int, int]]:
    """Return presets as pairs of GPUs and nodes: those that whole nodes make up."""
    each = node_type.gpus_per_node
    return [(gpus, gpus // each) for gpus in SIZES if gpus % each == 0]


def _nodes(query: Mapping[str, str], node_type: NodeType) -> int:
    size = query.get("size", "")
    if size.isdigit() and int(size) in {gpus for gpus, _nodes_ in sizes(node_type)}:
        return int(size) // node_type.gpus_per_node
    given = query.get("nodes")
    if given is None or (size and size != "free"):
        presets = sizes(node_type)
        return presets[0][1] if presets else 1
    return _whole(given, 1)


def _whole(given: str | None, default: int) -> int:
    text = (given or "").strip()
    if text.isascii() and text.isdigit() and 0 < len(text) <= 6:
        return int(text)
    return default


def _then(given: str, first: str) -> tuple[tuple[str, int], ...]:
    parts = []
    for part in given.split(",")[:2]:
        unit, _colon, count = part.partition(":")
        if unit in periods.UNITS and unit != first and _whole(count, 0):
            parts.append((unit, _whole(count, 0)))
    return tuple(parts)


def _start(query: Mapping[str, str], zone: str) -> datetime | None:
    if query.get("start") != "later":
        return None
    try:
        wall = datetime.strptime(query.get("starts_at", ""), LOCAL_TIME)  # noqa: DTZ007 - resolved in the zone
    except ValueError:
        return None
    return calendar.resolve(wall, zone)
