"""What a role may do and what a scope covers: two tables, pure."""

from collections.abc import Iterable

READS = frozenset({"catalog:read", "clusters:read", "jobs:read", "billing:read"})
WRITES = frozenset({"clusters:write", "jobs:write", "billing:write"})
SCOPES = (
    "catalog:read",
    "clusters:read",
    "clusters:write",
    "jobs:read",
    "jobs:write",
    "billing:read",
    "billing:write",
    "admin",
)

# Rights that are not scopes: `owner` (ownership), `kubeconfig`, `tokens` (own tokens).
ROLES: dict[str, frozenset[str]] = {
    "owner": READS | WRITES | {"admin", "owner", "kubeconfig", "tokens"},
    "admin": READS | WRITES | {"admin", "kubeconfig", "tokens"},
    "developer": READS | {"jobs:write", "kubeconfig", "tokens"},
    "billing": READS | {"billing:write", "tokens"},
    "viewer": READS,
}
RIGHTS = frozenset().union(*ROLES.values())

# The scope that a token needs for a right that is not a scope itself.
SCOPE_OF = {"kubeconfig": "clusters:write", "owner": "admin", "tokens": "admin"}


def of_role(role: str) -> frozenset[str]:
    """Return the rights of a role; none for a role that does not exist."""
    return ROLES.get(role, frozenset())


def covered(scopes: Iterable[str]) -> frozenset[str]:
    """Return the scopes that these give: writing a thing includes reading it."""
    given = set(scopes)
    return frozenset(given | {f"{scope.removesuffix(':write')}:read" for scope in given & WRITES})


def allowed(right: str, role: str, scopes: Iterable[str] | None) -> bool:
    """Say whether the role has the right and the scopes (None: not a token) cover it."""
    if right not in RIGHTS:
        raise ValueError(f"unknown right {right!r}")
    if right not in of_role(role):
        return False
    return scopes is None or SCOPE_OF.get(right, right) in covered(scopes)
