"""The frame around pages: style guide, errors, language and theme."""

from typing import Any

import pytest
from django.test import Client

from accounts.models import User

pytestmark = pytest.mark.django_db


@pytest.fixture
def staff(client: Client, settings: Any) -> Client:
    settings.STAFF_MFA = False
    client.force_login(User.objects.create_user("staff@berth.example", "x", is_staff=True))
    return client


def test_the_style_guide_is_for_staff(client: Client, staff: Client) -> None:
    page = staff.get("/_ui/")
    assert page.status_code == 200
    assert b'data-state="running"' in page.content
    other = Client()
    other.force_login(User.objects.create_user("a@berth.example", "x"))
    assert other.get("/_ui/").status_code == 404
