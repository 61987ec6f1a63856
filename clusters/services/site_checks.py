"""Is a Kubernetes site fit to be sold? Each answer is a finding; clusters/site_words.py has its words."""

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Protocol

from clusters.models import Site
from k8s import errors, rights
from k8s.types import Permission, StorageClass

OLDEST = (1, 29)
OPERATOR = ("kubeflow.org", "pytorchjobs", "v1")
SHOWN = 12  # missing rights that are named

Severity = Literal["ok", "warning", "problem"]


class Probe(Protocol):
    """What a check asks of a site."""

    def version(self) -> str: ...
    def served_versions(self, group: str, resource: str) -> tuple[str, ...]: ...
    def can(self, permissions: tuple[Permission, ...]) -> dict[Permission, bool]: ...
    def extended_resources(self) -> dict[str, int]: ...
    def storage_classes(self) -> list[StorageClass]: ...


@dataclass(frozen=True, slots=True)
class Finding:
    """One answer; `values` fill its sentence."""

    code: str
    severity: Severity
    values: dict[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return it as a row keeps it."""
        return asdict(self)


def problems(site: Site) -> int:
    """Return how many problems the newest check of a site found."""
    return sum(one["severity"] == "problem" for one in site.findings)


def run(site: Site, probe: Probe) -> list[Finding]:
    """Ask everything; what fails is a finding, too, and ends the check when nothing else can be asked."""
    try:
        version = probe.version()
    except errors.Error as error:
        return [_of_error(error)]
    found = [_version(version)]
    for ask in (_operator, _rights, _gpus, _storage):
        try:
            found += ask(site, probe)
        except errors.Error as error:
            found.append(_of_error(error, during=ask.__name__.strip("_")))
    return found


def _of_error(error: errors.Error, during: str = "") -> Finding:
    code = "failed"
    if isinstance(error, errors.Unauthorised):
        code = "unauthorised"
    elif isinstance(error, errors.Unavailable):
        code = "unreachable"
    elif isinstance(error, errors.Refused) and error.reason == "forbidden":
        code = "forbidden"
    return Finding(code, "problem", {"detail": str(error)[:300], "during": during})


def _version(text: str) -> Finding:
    parts = re.search(r"v(\d+)\.(\d+)", text)
    if parts is None:
        return Finding("odd_version", "warning", {"version": text[:60]})
    old = (int(parts[1]), int(parts[2])) < OLDEST
    return Finding("old_version" if old else "version", "problem" if old else "ok", {"version": text[:60]})


def _operator(site: Site, probe: Probe) -> Iterator[Finding]:
    group, resource, wanted = OPERATOR
    versions = probe.served_versions(group, resource)
    if wanted in versions:
        yield Finding("operator", "ok", {"version": wanted})
    elif versions:
        yield Finding("operator_version", "problem", {"version": ", ".join(versions)})
    else:
        yield Finding("no_operator", "problem")


def _rights(site: Site, probe: Probe) -> Iterator[Finding]:
    allowed = probe.can(rights.NEEDED)
    missing = [rights.words(one) for one in rights.NEEDED if not allowed.get(one)]
    if missing:
        more = f" +{len(missing) - SHOWN}" if len(missing) > SHOWN else ""
        yield Finding("missing_rights", "problem", {"rights": ", ".join(missing[:SHOWN]) + more})
    else:
        yield Finding("rights", "ok", {"count": str(len(allowed))})


def _gpus(site: Site, probe: Probe) -> Iterator[Finding]:
    found = probe.extended_resources()
    shown = {"found": ", ".join(f"{name} × {count}" for name, count in found.items()) or "–"}
    wanted = {"resource": site.gpu_resource}
    if found.get(site.gpu_resource):
        yield Finding("gpus", "ok", {**wanted, "count": str(found[site.gpu_resource])})
    else:
        yield Finding("other_gpus" if found else "no_gpus", "problem", {**wanted, **shown})


def _storage(site: Site, probe: Probe) -> Iterator[Finding]:
    classes = {one.name: one for one in probe.storage_classes()}
    default = next((one.name for one in classes.values() if one.default), "")
    used = site.storage_class or default
    if used in classes:
        yield Finding("storage", "ok", {"name": used, "provisioner": classes[used].provisioner})
    elif site.storage_class:
        yield Finding("no_such_class", "problem", {"name": used, "found": ", ".join(classes) or "–"})
    else:
        yield Finding("no_default_class", "problem", {"found": ", ".join(classes) or "–"})
