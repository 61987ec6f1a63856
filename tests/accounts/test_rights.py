"""The tables of roles and scopes."""

import pytest

from accounts import rights

READS = {"catalog:read", "clusters:read", "jobs:read", "billing:read"}
WRITES = {"clusters:write", "jobs:write", "billing:write"}


@pytest.mark.parametrize(
    "role, expected",
    [
        ("owner", READS | WRITES | {"admin", "owner", "kubeconfig", "tokens"}),
        ("admin", READS | WRITES | {"admin", "kubeconfig", "tokens"}),
        ("developer", READS | {"jobs:write", "kubeconfig", "tokens"}),
        ("billing", READS | {"billing:write", "tokens"}),
        ("viewer", READS),
        ("nobody", set()),
    ],
)
def test_a_role_has_these_rights_and_no_others(role: str, expected: set[str]) -> None:
    assert {right for right in rights.RIGHTS if rights.allowed(right, role, None)} == expected


def test_a_scope_never_widens_a_role_and_a_role_never_widens_scopes() -> None:
    for role in rights.ROLES:
        for right in rights.RIGHTS:
            assert rights.allowed(right, role, rights.SCOPES) == rights.allowed(right, role, None)
            assert not rights.allowed(right, role, [])


def test_writing_includes_reading_the_same_thing_only() -> None:
    assert rights.allowed("jobs:read", "owner", ["jobs:write"])
    assert not rights.allowed("clusters:read", "owner", ["jobs:write"])
    assert not rights.allowed("jobs:write", "owner", ["jobs:read"])
    assert not rights.allowed("jobs:read", "owner", ["admin"])


def test_a_right_that_does_not_exist_is_a_fault_of_ours() -> None:
    with pytest.raises(ValueError, match="unknown right"):
        rights.allowed("jobs:reed", "owner", None)
