"""The limits of a job spec: reads JSON into a JobSpec and names every fault at once."""

import re
from typing import Any
from urllib.parse import urlsplit

from django.utils.translation import gettext as _

from core.errors import FieldError, Invalid
from jobs import fields
from jobs.jobspec import types

NAME_MAX = 100
COUNT_MAX = 100_000
PROCESSES_MAX = 1024
INLINE_MAX_BYTES = 512 * 1024
COMMAND_MAX_BYTES = 128 * 1024
COMMAND_MAX_PARTS = 1000
ENV_MAX_BYTES = 256 * 1024
ENV_MAX_NAMES = 500
ENV_NAME_MAX = 200
SECRETS_MAX = 100
TAGS_MAX = 50
TAG_NAME_MAX = 63
TAG_VALUE_MAX = 255
RUNTIME_MAX_SECONDS = 366 * 86400
RETRIES_MAX = 100
KEEP_MAX = 10_000
URL_MAX = 2000
REF_MAX = 255
RESERVED_ENV = frozenset(
    {"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "PYTHONUNBUFFERED"}
    | {"CHECKPOINT_DIR", "RESUME_FROM", "DATA_DIR"}
)
RESERVED_ENV_PREFIX = "PET_"
_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SCP_URL = re.compile(r"[A-Za-z0-9._][A-Za-z0-9._-]*@[A-Za-z0-9][A-Za-z0-9.-]*:[^-\s:/][^\s:]*")
_MOUNT_PATH = re.compile(r"(?:/[A-Za-z0-9_][A-Za-z0-9._-]*){1,10}")
# Mount points and system folders that a checkpoint volume must not hide.
_TAKEN_PATHS = frozenset(
    {"data", "workspace", "berth", "bin", "boot", "dev", "etc", "lib", "lib64", "proc", "root", "run"}
    | {"sbin", "sys", "tmp", "usr", "var"}
)
_DEFAULT_COMMAND = ("python", "main.py")


def parse(data: Any) -> types.JobSpec:
    """Return the spec of a JSON value; raises ``core.errors.Invalid`` with one FieldError per fault.

    Codes: unknown_field, required, type, min, max, choice, invalid_text, invalid_name, invalid_url,
    invalid_ref, invalid_path, reserved_env, duplicate, one_of, too_large.
    """
    faults: list[FieldError] = []
    if not isinstance(data, dict):
        raise Invalid.field("", "type", _("The body must be a JSON object."))
    reader = fields.Reader(data, faults)
    code = _code(reader)
    env = _env(reader)
    spec = types.JobSpec(
        cluster=reader.text("cluster", required=True, high=64),
        name=_name(reader),
        project=reader.text("project", default=types.DEFAULT_PROJECT, high=64),
        environment=reader.text("environment", high=64),
        code=code,
        command=_command(reader, isinstance(code, types.Inline)),
        replicas=reader.integer("replicas", default=1, low=1, high=COUNT_MAX),
        gpus_per_replica=reader.integer("gpus_per_replica", default=1, low=1, high=COUNT_MAX),
        processes_per_replica=reader.integer("processes_per_replica", default=1, low=1, high=PROCESSES_MAX),
        env=env,
        secrets=_secrets(reader, env),
        checkpoints=_checkpoints(reader),
        max_runtime_seconds=_runtime(reader),
        max_retries=reader.integer("max_retries", default=0, low=0, high=RETRIES_MAX),
        priority=reader.choice("priority", types.PRIORITIES, "normal"),
        tags=_tags(reader),
    )
    reader.close()
    if faults:
        raise Invalid(_("The job cannot be taken as it is; see the fields."), errors=faults)
    return spec


def _name(reader: fields.Reader) -> str:
    name = reader.text("name", high=NAME_MAX)
    if fields.has_controls(name):
        reader.fault("name", "invalid_name", _("Control characters and line breaks are not allowed."))
    elif name and not name.strip():
        reader.fault("name", "invalid_name", _("A name needs at least one visible character."))
    return name


def _code(reader: fields.Reader) -> types.Inline | types.Git | types.Archive | None:
    inner = reader.nested("code")
    if inner is None:
        return None
    given = [kind for kind in ("inline", "git", "archive") if inner.has(kind)]
    if len(given) != 1:
        reader.fault("code", "one_of", _("Give exactly one of inline, git and archive, or leave code out."))
    text = inner.raw("inline")
    if text is not None and not isinstance(text, str):
        inner.fault("inline", "type", _("Must be a string."))
        text = None
    elif text is not None and not fields.storable(text):
        inner.fault("inline", "invalid_text", _("Must be valid Unicode without zero bytes."))
    elif text is not None and fields.size([text]) > INLINE_MAX_BYTES:
        inner.fault("inline", "too_large", _("At most 512 KiB; upload an archive for more."))
    git = _git(inner)
    upload = inner.text("archive", high=64)
    inner.close()
    if text is not None:
        return types.Inline(text)
    return git or (types.Archive(upload) if upload else None)


def _git(code: fields.Reader) -> types.Git | None:
    inner = code.nested("git")
    if inner is None:
        return None
    url = inner.text("url", required=True, high=URL_MAX)
    if url and not _url_allowed(url):
        inner.fault("url", "invalid_url", _("Give an https or ssh address without a password in it."))
    ref = inner.text("ref", high=REF_MAX)
    if ref and not _ref_allowed(ref):
        inner.fault("ref", "invalid_ref", _("This is not the name of a branch, tag or commit."))
    secret = inner.text("secret", high=ENV_NAME_MAX)
    if secret and not _ENV_NAME.fullmatch(secret):
        inner.fault("secret", "invalid_name", _("Letters, digits and _ only, not starting with a digit."))
    inner.close()
    return types.Git(url, ref, secret)


def _url_allowed(url: str) -> bool:
    """Accept https://host/…, ssh://git@host/… and git@host:path; nothing that git reads as an option."""
    if url.startswith("-") or not url.isprintable() or " " in url or "\\" in url:
        return False
    if _SCP_URL.fullmatch(url) and "://" not in url:
        return True
    try:
        parts = urlsplit(url)
        host, _port = parts.hostname, parts.port
    except ValueError:
        return False
    if parts.scheme not in ("https", "ssh") or not host or host.startswith("-") or parts.password:
        return False
    if parts.username is not None and (parts.scheme == "https" or parts.username.startswith("-")):
        return False
    return len(parts.path) > 1 and not parts.path.startswith("/-")


def _ref_allowed(ref: str) -> bool:
    """Accept what ``git check-ref-format`` would, roughly, and never an option."""
    if ref.startswith(("-", "/")) or ref.endswith(("/", ".", ".lock")) or not ref.isprintable():
        return False
    return not any(bad in ref for bad in ("..", "//", "@{", "\\", " ", "~", "^", ":", "?", "*", "["))


def _command(reader: fields.Reader, is_inline: bool) -> tuple[str, ...]:
    parts = reader.strings("command", most=COMMAND_MAX_PARTS)
    if parts is None:
        if is_inline or reader.has("command"):
            return _DEFAULT_COMMAND
        reader.fault("command", "required", _("Say what to start; only inline code has a default command."))
        return ()
    if not parts or not parts[0].strip():
        reader.fault("command", "min", _("The command needs at least the program to start."))
    elif fields.size(parts) > COMMAND_MAX_BYTES:
        reader.fault("command", "too_large", _("At most 128 KiB; put long input into a file."))
    return parts


def _env(reader: fields.Reader) -> dict[str, str]:
    env = reader.words("env", most=ENV_MAX_NAMES)
    for name in env:
        _check_env_name(reader, f"env.{fields.shown(name)}", name)
    if fields.size(env) + fields.size(env.values()) > ENV_MAX_BYTES:
        reader.fault("env", "too_large", _("At most 256 KiB for all variables together."))
    return env


def _secrets(reader: fields.Reader, env: dict[str, str]) -> tuple[str, ...]:
    names = reader.strings("secrets", most=SECRETS_MAX) or ()
    for place, name in enumerate(names):
        _check_env_name(reader, f"secrets.{place}", name)
        if name in env or name in names[:place]:
            reader.fault(f"secrets.{place}", "duplicate", _("This name is already set for the job."))
    return names


def _check_env_name(reader: fields.Reader, where: str, name: str) -> None:
    if not _ENV_NAME.fullmatch(name) or len(name) > ENV_NAME_MAX:
        reader.fault(where, "invalid_name", _("Letters, digits and _ only, not starting with a digit."))
    elif name in RESERVED_ENV or name.startswith(RESERVED_ENV_PREFIX):
        reader.fault(where, "reserved_env", _("This variable is set by Berth or the training operator."))


def _checkpoints(reader: fields.Reader) -> types.Checkpoints | None:
    inner = reader.nested("checkpoints")
    if inner is None:
        return None
    path = inner.text("path", default=types.DEFAULT_CHECKPOINT_PATH, high=200)
    path = path.rstrip("/") or "/"
    if not _MOUNT_PATH.fullmatch(path) or path.split("/")[1] in _TAKEN_PATHS:
        inner.fault("path", "invalid_path", _("Give an absolute folder of its own, such as /checkpoints."))
    resume = inner.choice("resume", ("auto", "never"), "auto")
    keep = inner.integer("keep_last", default=0, low=1, high=KEEP_MAX)
    inner.close()
    return types.Checkpoints(path, resume, keep or None)


def _runtime(reader: fields.Reader) -> int | None:
    seconds = reader.integer("max_runtime_seconds", default=0, low=1, high=RUNTIME_MAX_SECONDS)
    return seconds or None


def _tags(reader: fields.Reader) -> dict[str, str]:
    tags = reader.words("tags", most=TAGS_MAX)
    for name, value in tags.items():
        where = f"tags.{fields.shown(name)}"
        if not 1 <= len(name) <= TAG_NAME_MAX or fields.has_controls(name):
            reader.fault(where, "invalid_name", _("A tag name has 1 to 63 characters on one line."))
        elif len(value) > TAG_VALUE_MAX or fields.has_controls(value):
            reader.fault(where, "max", _("A tag value has at most 255 characters on one line."))
    return tags
