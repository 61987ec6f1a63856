"""The schema and the API agree: generated requests of every operation get answers that the schema knows."""

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core import signals
from django.core.handlers.wsgi import WSGIHandler
from django.core.management import call_command
from django.db import close_old_connections
from django.test import Client
from drf_spectacular.generators import SchemaGenerator
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.support import people

schema = schemathesis.openapi.from_dict(SchemaGenerator().get_schema(request=None, public=True))
schema.app = WSGIHandler()
CHECKS = (
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
)


@pytest.mark.django_db
def test_the_schema_is_complete_and_warns_of_nothing(capsys: Any) -> None:
    call_command("spectacular", validate=True, fail_on_warn=True, file="/dev/null")


@pytest.mark.django_db
def test_docs_and_schema_are_open_to_anybody() -> None:
    assert Client().get("/api/v1/schema/?format=json").json()["openapi"].startswith("3.1")
    assert Client().get("/api/v1/docs/").status_code == 200


@pytest.fixture
def _own_connection(db: None) -> Iterator[None]:
    """Keep the connection of the test, as Django's own client does."""
    signals.request_finished.disconnect(close_old_connections)
    signals.request_started.disconnect(close_old_connections)
    yield
    signals.request_finished.connect(close_old_connections)
    signals.request_started.connect(close_old_connections)


@pytest.fixture
def bearer(_own_connection: None) -> dict[str, str]:
    """Return the header of a token with every scope."""
    return {"Authorization": f"Bearer {people.token(people.member())[1]}"}


@pytest.mark.fuzz
@schema.parametrize()
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
def test_generated_requests(case: Any, bearer: dict[str, str]) -> None:
    response = case.call(headers=bearer)
    case.validate_response(response, checks=CHECKS)
