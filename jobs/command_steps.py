"""How many steps a command asks for: most trainers name the total there and never in the log."""

import re
from collections.abc import Sequence

_NAMES = "(?:(?:max|total|num|train)[-_])?steps|(?:max|train)[-_]iters|iterations"
_OPTION = re.compile(rf"(?:--|--training\.|trainer\.|training\.)(?:{_NAMES})(?:=(\d{{1,12}}))?")
_NUMBER = re.compile(r"\d{1,12}")


def total(command: Sequence[str]) -> int | None:
    """Return the total of ``--steps 100``, ``--max_steps=100`` and the like; None when none is named."""
    words = [word for part in command for word in part.split()]
    for place, word in enumerate(words):
        match = _OPTION.fullmatch(word)
        if match is None:
            continue
        given = match[1] or (words[place + 1] if place + 1 < len(words) else "")
        if _NUMBER.fullmatch(given) and int(given) > 0:
            return int(given)
    return None
