"""Reading a JSON object field by field: all faults are collected, unknown fields too, nothing raises."""

import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.translation import gettext as _

from core.errors import FieldError


class Reader:
    """Takes typed fields out of one JSON object; the faults of nested readers land in one list."""

    def __init__(self, data: Mapping[str, Any], faults: list[FieldError], prefix: str = "") -> None:
        self._data = data
        self._faults = faults
        self._prefix = prefix
        self._seen: set[str] = set()

    def fault(self, name: str, code: str, detail: str) -> None:
        """Record a fault of a field of this object."""
        self._faults.append(FieldError(self._prefix + name, code, detail))

    def has(self, name: str) -> bool:
        """Say whether a field is there and not null."""
        return self._data.get(name) is not None

    def raw(self, name: str, *, required: bool = False) -> Any:
        """Return a field as it stands (``None`` when absent) and mark it as known."""
        self._seen.add(name)
        value = self._data.get(name)
        if value is None and required:
            self.fault(name, "required", _("This field is required."))
        return value

    def text(
        self, name: str, *, default: str = "", required: bool = False, low: int = 1, high: int = 255
    ) -> str:
        """Return a string of ``low`` to ``high`` characters that a database can hold."""
        value = self.raw(name, required=required)
        if value is None:
            return default
        if not isinstance(value, str):
            self.fault(name, "type", _("Must be a string."))
            return default
        if len(value) < low:
            self.fault(name, "min", _("Must have at least %(count)d characters.") % {"count": low})
        elif len(value) > high:
            self.fault(name, "max", _("Must have at most %(count)d characters.") % {"count": high})
        elif not storable(value):
            self.fault(name, "invalid_text", _("Must be valid Unicode without zero bytes."))
        else:
            return value
        return default

    def integer(self, name: str, *, default: int, low: int, high: int) -> int:
        """Return a whole number between ``low`` and ``high``; ``true`` and ``2.0`` are none."""
        value = self.raw(name)
        if value is None:
            return default
        if not isinstance(value, int) or isinstance(value, bool):
            self.fault(name, "type", _("Must be a whole number."))
        elif value < low:
            self.fault(name, "min", _("Must be at least %(limit)d.") % {"limit": low})
        elif value > high:
            self.fault(name, "max", _("Must be at most %(limit)d.") % {"limit": high})
        else:
            return value
        return default

    def choice(self, name: str, options: tuple[str, ...], default: str) -> str:
        """Return one of the words in ``options``."""
        value = self.raw(name)
        if value is None:
            return default
        if not isinstance(value, str):
            self.fault(name, "type", _("Must be a string."))
        elif value not in options:
            self.fault(name, "choice", _("Must be one of: %(words)s.") % {"words": ", ".join(options)})
        else:
            return value
        return default

    def strings(self, name: str, *, most: int) -> tuple[str, ...] | None:
        """Return a list of at most ``most`` strings, ``None`` when absent or wrong."""
        value = self.raw(name)
        if value is None:
            return None
        if not isinstance(value, list):
            self.fault(name, "type", _("Must be a list of strings."))
            return None
        if len(value) > most:
            self.fault(name, "max", _("Must have at most %(count)d entries.") % {"count": most})
            return None
        for place, item in enumerate(value):
            if not isinstance(item, str):
                self.fault(f"{name}.{place}", "type", _("Must be a string."))
                return None
            if not storable(item):
                self.fault(f"{name}.{place}", "invalid_text", _("Must be valid Unicode without zero bytes."))
                return None
        return tuple(value)

    def words(self, name: str, *, most: int) -> dict[str, str]:
        """Return an object of at most ``most`` string values; ``{}`` when absent or wrong."""
        value = self.raw(name)
        if value is None:
            return {}
        if not isinstance(value, dict):
            self.fault(name, "type", _("Must be an object of strings."))
            return {}
        if len(value) > most:
            self.fault(name, "max", _("Must have at most %(count)d entries.") % {"count": most})
            return {}
        good = {}
        for key, item in value.items():
            if not isinstance(item, str):
                self.fault(f"{name}.{shown(key)}", "type", _("Must be a string."))
            elif not (storable(item) and storable(key)):
                self.fault(
                    f"{name}.{shown(key)}", "invalid_text", _("Must be valid Unicode without zero bytes.")
                )
            else:
                good[key] = item
        return good

    def nested(self, name: str) -> "Reader | None":
        """Return a reader of an object inside this one, ``None`` when absent or wrong."""
        value = self.raw(name)
        if value is None:
            return None
        if not isinstance(value, dict):
            self.fault(name, "type", _("Must be an object."))
            return None
        return Reader(value, self._faults, f"{self._prefix}{name}.")

    def close(self) -> None:
        """Record every field that nobody asked for as unknown."""
        for name in self._data:
            if name not in self._seen:
                self.fault(shown(name), "unknown_field", _("There is no such field."))


def storable(text: str) -> bool:
    """Say whether a text can be stored: no zero byte, no lone surrogate."""
    return "\0" not in text and not any("\ud800" <= sign <= "\udfff" for sign in text)


def has_controls(text: str) -> bool:
    """Say whether a text holds control characters, line breaks included (Unicode categories Cc, Zl, Zp)."""
    return any(unicodedata.category(sign) in ("Cc", "Zl", "Zp") for sign in text)


def shown(name: str) -> str:
    """Return a name from a request so that it can stand in an error: escaped, at most 100 characters."""
    return name[:100].encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")


def size(texts: Iterable[str]) -> int:
    """Return the bytes that texts take as UTF-8."""
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
