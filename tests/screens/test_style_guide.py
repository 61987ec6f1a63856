"""The style guide as a picture, in both themes and widths."""

import pytest

from tests.screens.conftest import Walker
from tests.support import people

pytestmark = [pytest.mark.screens, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("phone", [False, True])
def test_style_guide(walker: Walker, theme: str, phone: bool) -> None:
    page = walker.open(people.staff(), theme=theme, phone=phone)
    page.goto(f"{walker.address}/_ui/")
    walker.shot(page, f"style-guide-{theme}-{'phone' if phone else 'wide'}")
    assert walker.faults == []
