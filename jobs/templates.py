"""Templates of the submit page, read from examples/: a title, the code, and the spec to start from."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from django.utils.translation import gettext_noop

FOLDER = Path(__file__).resolve().parent.parent / "examples"
SLUGS = ("char-lm-numpy", "char-lm-torch")  # in the order of the page

# The words of template.json that the page translates, written out for the message catalogue.
TITLES = (gettext_noop("Character model, NumPy"), gettext_noop("Character model, PyTorch DDP"))
SUMMARIES = (
    gettext_noop(
        "A small language model that learns a bundled text in seconds, data-parallel over its replicas. "
        "Runs anywhere, no GPU library needed."
    ),
    gettext_noop(
        "The same model with DistributedDataParallel on gloo: the shape of a real multi-node training script."
    ),
)


@dataclass(frozen=True, slots=True)
class Template:
    """A starting point; ``spec`` lacks cluster and code, ``needs`` names the library it imports."""

    slug: str
    title: str
    summary: str
    needs: str
    code: str
    spec: Mapping[str, Any]

    def job_spec(self, cluster: str) -> dict[str, Any]:
        """Return a complete job spec for a cluster."""
        return {**self.spec, "cluster": cluster, "code": {"inline": self.code}}


@cache
def all_templates() -> tuple[Template, ...]:
    """Return the templates in the order of the page."""
    return tuple(_read(slug) for slug in SLUGS)


def get(slug: str) -> Template | None:
    """Return one template by its slug."""
    return next((template for template in all_templates() if template.slug == slug), None)


def _read(slug: str) -> Template:
    folder = FOLDER / slug
    about = json.loads((folder / "template.json").read_text(encoding="utf-8"))
    code = (folder / "main.py").read_text(encoding="utf-8")
    return Template(slug, about["title"], about["summary"], about["needs"], code, about["spec"])
