"""Pure rewriting of a container for this machine: `$(NAME)` references, and mount paths to real folders."""

import re
from collections.abc import Mapping

_REFERENCE = re.compile(r"\$\$|\$\(([A-Za-z_][A-Za-z0-9_.-]*)\)")
_OPTION = re.compile(r"(--?[A-Za-z0-9][-\w]*=)(/.*)", re.DOTALL)


def expand(text: str, env: Mapping[str, str]) -> str:
    """Replace `$(NAME)` as Kubernetes does: unknown names stay as they are, `$$` is one `$`."""

    def one(match: re.Match[str]) -> str:
        name = match.group(1)
        return "$" if name is None else env.get(name, match.group(0))

    return _REFERENCE.sub(one, text)


def locate(path: str, mounts: Mapping[str, str]) -> str:
    """Return the real path of a path equal to or below a mount; any other text as it is."""
    best = ""
    for mount in mounts:
        clean = mount.rstrip("/")
        if (path == clean or path.startswith(f"{clean}/")) and len(clean) > len(best.rstrip("/")):
            best = mount
    return mounts[best] + path[len(best.rstrip("/")) :] if best else path


def value(text: str, mounts: Mapping[str, str]) -> str:
    """Rewrite an environment value: a path, or a list of absolute paths with colons between them."""
    parts = text.split(":")
    if len(parts) > 1 and all(part == "" or part.startswith("/") for part in parts):
        return ":".join(locate(part, mounts) for part in parts)
    return locate(text, mounts)


def argument(text: str, mounts: Mapping[str, str]) -> str:
    """Rewrite an argument: a path, or an option such as `--out=/checkpoints/x`."""
    if match := _OPTION.fullmatch(text):
        return match.group(1) + locate(match.group(2), mounts)
    return locate(text, mounts)
