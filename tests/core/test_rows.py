"""Several rows by one statement, and a query compiled once."""

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import AuditEntry, Project, Token
from accounts.services import tokens
from core import rows
from core.lookup import Lookup
from tests.support import people


def entry(**fields: object) -> AuditEntry:
    return AuditEntry(at=timezone.now(), actor_kind="system", actor_label="a", action="a.b", **fields)


@pytest.mark.django_db(transaction=True)
def test_rows_of_two_tables_take_one_statement() -> None:
    owner = people.member()
    project = Project(organisation=owner.organisation, slug="made", name="名字 %s", created_at=timezone.now())
    with CaptureQueriesContext(connection) as queries:
        rows.insert(entry(organisation=owner.organisation, after={"a": None}), project)
    assert len(queries) == 1
    project.refresh_from_db()
    assert (project.name, project._state.adding) == ("名字 %s", False)
    found = AuditEntry.objects.get(action="a.b")
    assert (found.after, found.before, found.organisation) == ({"a": None}, None, owner.organisation)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("around", [True, False])
def test_all_or_none(around: bool) -> None:
    owner = people.member()
    taken = Project.objects.create(
        organisation=owner.organisation, slug="taken", name="a", created_at=timezone.now()
    )
    again = Project(organisation=owner.organisation, slug=taken.slug, name="b", created_at=timezone.now())
    if around:
        with transaction.atomic():
            with pytest.raises(IntegrityError), transaction.atomic():
                rows.insert(entry(), again)
            rows.insert(entry(target="after"))  # the transaction around it goes on
    else:
        with pytest.raises(IntegrityError):
            rows.insert(entry(), again)
    assert list(AuditEntry.objects.filter(action="a.b").values_list("target", flat=True)) == (
        ["after"] if around else []
    )


@pytest.mark.django_db
def test_a_lookup_finds_what_its_query_finds() -> None:
    owner = people.member()
    secret = people.token(owner)[1]
    lookup = Lookup[Token](
        lambda text: Token.objects.select_related("organisation", "member__user").filter(secret_hash=text)
    )
    for _ in range(2):
        with CaptureQueriesContext(connection) as queries:
            found = lookup.first(tokens.digest(secret))
            assert found is not None
            assert (found.member.user, found.organisation) == (owner.user, owner.organisation)
        assert len(queries) == 1
        expected = Token.objects.get(pk=found.pk)
        for field in Token._meta.concrete_fields:
            assert getattr(found, field.attname) == getattr(expected, field.attname)
        assert not found._state.adding
    assert lookup.first("none") is None
