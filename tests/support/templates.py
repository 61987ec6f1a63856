"""Undefined template variables fail in our own templates; those of other packages may rely on emptiness."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class UndefinedVariable(AssertionError):
    """A template of ours uses a variable that its view does not give."""


class FailIfInvalid(str):
    """A value for ``string_if_invalid``: Django formats it with the variable's name, which fails here."""

    def __contains__(self, key: object) -> bool:
        return key == "%s"

    def __mod__(self, variable: object) -> str:
        origin = _origin()
        if origin is not None and _is_ours(origin):
            raise UndefinedVariable(f"{origin}: {{{{ {variable} }}}} is not defined.")
        return ""

    def __bool__(self) -> bool:
        return True


def _is_ours(origin: str) -> bool:
    path = Path(origin)
    return path.is_relative_to(ROOT) and not {".venv", "site-packages"} & set(path.parts)


def _origin() -> str | None:
    """Return the file of the template node that is being rendered: the nearest one on the stack."""
    frame = sys._getframe(2)
    while frame is not None:
        node = frame.f_locals.get("self")
        name = getattr(getattr(node, "origin", None), "name", None)
        if isinstance(name, str):
            return name
        frame = frame.f_back
    return None
