"""The ground that the tests stand on: real services, closed network, strict templates."""

import os
import socket

import pytest
from django.core.cache import cache
from django.db import connection
from django.template import Context, engines
from django.template.base import Origin, Template

from tests.support import network, templates


@pytest.mark.django_db
def test_the_database_is_postgresql() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('server_version_num')::int")
        assert cursor.fetchone()[0] >= 180000


def test_redis_answers() -> None:
    cache.set("a", 1)
    assert cache.get("a") == 1


def test_the_services_are_the_run_s_own() -> None:
    assert os.environ["DATABASE_URL"].startswith("postgresql://berth:")


@pytest.mark.parametrize("host", ["192.0.2.1", "2001:db8::1"])
def test_the_network_is_closed(host: str) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as outside, pytest.raises(network.NetworkClosed):
        outside.connect((host, 80))


def test_names_are_not_resolved() -> None:
    with pytest.raises(network.NetworkClosed):
        socket.getaddrinfo("berth.example", 80)


def _render(source: str, file: str) -> str:
    engine = engines["django"].engine
    return Template(source, origin=Origin(file), engine=engine).render(Context({"known": "yes"}))


def test_an_undefined_variable_fails_in_our_templates() -> None:
    ours = str(templates.ROOT / "templates" / "page.html")
    assert _render("{{ known }}", ours) == "yes"
    with pytest.raises(templates.UndefinedVariable, match="unknown"):
        _render("{{ unknown }}", ours)
    assert _render("{% if unknown %}a{% endif %}", ours) == ""


def test_an_undefined_variable_passes_in_templates_of_other_packages() -> None:
    assert _render("{{ unknown }}", "/usr/lib/python3/site-packages/other/page.html") == ""
