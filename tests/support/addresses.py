"""Walks the URL configuration: every address with its parameters, methods and kind."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver

PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")


@dataclass(frozen=True)
class Address:
    """One address: ``route`` with parameters in angle brackets."""

    route: str
    view: Any

    @property
    def in_api(self) -> bool:
        return self.route.startswith("api/v1/")

    @property
    def rights(self) -> dict[str, str | None]:
        """Methods of an API view with the right of each."""
        return dict(getattr(getattr(self.view, "cls", None), "rights", {}))

    @property
    def parameters(self) -> list[tuple[str, str]]:
        """Pairs of the fixed part before a parameter and its name."""
        found = []
        for match in PARAMETER.finditer(self.route):
            before = self.route[: match.start()].rstrip("/").rsplit("/", 1)[-1]
            found.append((before, match[1]))
        return found

    def path(self, values: dict[str, str]) -> str:
        """Return the address with its parameters filled in."""
        return "/" + PARAMETER.sub(lambda match: values[match[1]], self.route)


def every() -> list[Address]:
    """Return all addresses of the portal, in the order of the configuration."""
    return list(_walk(get_resolver("portal.urls").url_patterns, ""))


def _walk(patterns: Any, prefix: str) -> Iterator[Address]:
    for entry in patterns:
        route = prefix + str(entry.pattern).replace("^", "").replace("\\Z", "").replace("$", "")
        if isinstance(entry, URLResolver):
            yield from _walk(entry.url_patterns, route)
        elif isinstance(entry, URLPattern):
            yield Address(route, entry.callback)
