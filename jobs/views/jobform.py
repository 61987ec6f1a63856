"""The submit form: from its fields to a job spec, and from a template to its fields."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from core.errors import FieldError
from jobs import templates

UNITS = {"minutes": 60, "hours": 3600, "days": 86400}
CODE_KINDS = ("inline", "git", "archive", "image")
STARTER = "print('hello from', __import__('os').environ['RANK'])\n"


@dataclass(slots=True)
class Form:
    """Values of the fields as text, ready to be shown again."""

    values: dict[str, str]
    secrets: list[str] = field(default_factory=list)

    def spec(self, archive: str = "") -> tuple[dict[str, Any], list[FieldError]]:
        """Return the job spec and the faults of what is no spec yet; limits are the spec's own matter."""
        faults: list[FieldError] = []
        values = self.values
        data: dict[str, Any] = {
            "cluster": values["cluster"],
            "replicas": _number(values["replicas"]),
            "gpus_per_replica": _number(values["gpus_per_replica"]),
            "processes_per_replica": _number(values["processes_per_replica"]),
            "max_retries": _number(values["max_retries"]),
            "priority": values["priority"],
            "project": values["project"],
            "checkpoints": {"resume": values["resume"]},
            "env": _pairs(values["env"], "env", faults),
            "tags": _pairs(values["tags"], "tags", faults),
            "secrets": self.secrets,
        }
        if values["keep_last"].strip():
            data["checkpoints"]["keep_last"] = _number(values["keep_last"])
        for name in ("name", "environment"):
            if values[name].strip():
                data[name] = values[name].strip()
        if values["limit"].strip():
            limit = _number(values["limit"])
            data["max_runtime_seconds"] = (
                limit * UNITS[values["limit_unit"]] if isinstance(limit, int) else limit
            )
        if values["command"].strip():
            try:
                data["command"] = shlex.split(values["command"])
            except ValueError:
                faults.append(FieldError("command", "quotes", _("A quotation mark is not closed.")))
        if code := self._code(archive):
            data["code"] = code
        return data, faults

    def _code(self, archive: str) -> dict[str, Any]:
        values = self.values
        match values["code"]:
            case "inline":
                return {"inline": values["inline"].replace("\r\n", "\n")}
            case "git":
                git = {"url": values["git_url"].strip(), "ref": values["git_ref"].strip()}
                if values["git_secret"]:
                    git["secret"] = values["git_secret"]
                return {"git": git}
            case "archive":
                return {"archive": archive} if archive else {}
            case _:
                return {}


DEFAULTS = {
    "cluster": "",
    "template": "",
    "name": "",
    "project": "default",
    "environment": "",
    "code": "inline",
    "inline": STARTER,
    "git_url": "",
    "git_ref": "",
    "git_secret": "",
    "command": "python main.py",
    "replicas": "1",
    "gpus_per_replica": "1",
    "processes_per_replica": "1",
    "max_retries": "0",
    "priority": "normal",
    "resume": "auto",
    "keep_last": "",
    "limit": "",
    "limit_unit": "hours",
    "env": "",
    "tags": "",
}


def sent(post: Any) -> Form:
    """Return the form as it was sent; fields that are missing have their defaults."""
    values = {name: post.get(name, default) for name, default in DEFAULTS.items()}
    if values["limit_unit"] not in UNITS:
        values["limit_unit"] = "hours"
    if values["code"] not in CODE_KINDS:
        values["code"] = "inline"
    return Form(values, [name for name in post.getlist("secrets") if name][:100])


def fresh(query: Mapping[str, str], cluster: str) -> Form:
    """Return the form to begin with: of the named template, else the first one's."""
    known = templates.all_templates()
    template = templates.get(query.get("template", "")) or (known[0] if "template" not in query else None)
    values = DEFAULTS | {"cluster": cluster}
    if template is not None:
        values |= _of_template(template)
    return Form(values)


def _of_template(template: templates.Template) -> dict[str, str]:
    spec = template.spec
    values = {"template": template.slug, "inline": template.code, "command": shlex.join(spec["command"])}
    for name in ("name", "replicas", "gpus_per_replica", "max_retries"):
        if name in spec:
            values[name] = str(spec[name])
    if seconds := spec.get("max_runtime_seconds"):
        unit = "hours" if seconds % 3600 == 0 else "minutes"
        values |= {"limit": str(seconds // UNITS[unit]), "limit_unit": unit}
    return values


def _number(text: str) -> int | str:
    clean = text.strip()
    return int(clean) if clean.isascii() and clean.isdigit() and len(clean) < 12 else clean


def _pairs(text: str, name: str, faults: list[FieldError]) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in text.splitlines():
        if not line.strip():
            continue
        key, sign, value = line.partition("=")
        if not sign:
            faults.append(FieldError(name, "pair", _("Write one NAME=value in each line.")))
            continue
        found[key.strip()] = value.strip()
    return found
