"""Renting and paying as pictures."""

import pytest

from tests.screens.conftest import Walker
from tests.support import market, people

pytestmark = [pytest.mark.screens, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize("language,theme,phone", [("en", "light", False), ("zh-hans", "dark", True)])
def test_rent_and_pay(walker: Walker, language: str, theme: str, phone: bool) -> None:
    market.demo()
    member = people.member()
    page = walker.open(member.user, language=language, theme=theme, phone=phone)
    suffix = f"{language}-{theme}-{'phone' if phone else 'wide'}"
    page.goto(f"{walker.address}/rent?size=16")
    walker.shot(page, f"rent-{suffix}")
    page.locator("input[name=count]").fill("28")
    page.locator("input[name=unit][value=day]").check(force=True)
    page.wait_for_url("**unit=day**")
    walker.shot(page, f"rent-cheaper-{suffix}")
    page.locator("#quote button[type=submit]").click()
    page.wait_for_url("**/orders/ord_*")
    walker.shot(page, f"checkout-{suffix}")
    page.locator("input[name=outcome][value=declined]").check(force=True)
    page.locator("form:has(input[name=method]) button[type=submit]").click()
    page.wait_for_selector("[role=alert]")
    walker.shot(page, f"declined-{suffix}")
    page.goto(f"{walker.address}/orders")
    walker.shot(page, f"orders-{suffix}")
    assert walker.faults == []
