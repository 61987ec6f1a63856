"""The readable page of the API names every call and every code, with nothing from elsewhere."""

import re

import pytest
from django.test import Client

from core.rest import problems
from tests.support import addresses

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_every_call_and_code_is_on_the_page(language: str) -> None:
    client = Client()
    client.cookies["language"] = language
    answer = client.get("/api/v1/docs/")
    text = answer.content.decode()
    assert answer.status_code == 200
    paths = {re.sub(r"{\w+}", "{}", path) for path in re.findall(r"<code>(/api/[^<]+)</code>", text)}
    for address in addresses.every():
        if address.in_api and address.rights:
            path = "/" + addresses.PARAMETER.sub("{}", address.route)
            assert path in paths
    for code in problems.CODES:
        assert f">{code}</span>" in text
    assert not re.search(r'(?:src|href)="https?://(?!127\.0\.0\.1|testserver)', text)
