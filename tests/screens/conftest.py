"""A real browser on the live server: Debian's Chromium through Playwright."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "1")  # Playwright's loop runs in the thread of the test
ROOT = Path(__file__).resolve().parents[2]
SHOTS = Path(os.environ.get("BERTH_SHOTS", ROOT / "shots"))
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--font-render-hinting=none"]
WIDE = {"width": 1280, "height": 860}
PHONE = {"width": 390, "height": 844}


def chromium() -> str | None:
    """Return the path of the system's browser, None where there is none."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Start the browser once for all tests of this folder."""
    path = chromium()
    if path is None:
        pytest.skip("no Chromium on this machine")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield running
        running.close()


@pytest.fixture(autouse=True)
def _staff_without_second_factor(settings: Any) -> None:
    settings.STAFF_MFA = False


class Walker:
    """Opens pages as somebody, in a language, theme and size, and saves what they look like."""

    def __init__(self, browser: Browser, address: str) -> None:
        self.browser = browser
        self.address = address
        self.contexts: list[BrowserContext] = []
        self.faults: list[str] = []

    def open(
        self, user: Any = None, *, language: str = "en", theme: str = "light", phone: bool = False
    ) -> Page:
        """Return a page of a fresh context, signed in as the user; faults of its console are noted."""
        context = self.browser.new_context(
            viewport=PHONE if phone else WIDE,
            locale="zh-CN" if language == "zh-hans" else "en-GB",
            timezone_id="Asia/Shanghai",
            color_scheme=theme,
            device_scale_factor=2 if phone else 1,
            has_touch=phone,
        )
        self.contexts.append(context)
        cookies = {"language": language, "theme": theme}
        if user is not None:
            client = Client()
            client.force_login(user)
            cookies["sessionid"] = client.cookies["sessionid"].value
        context.add_cookies([{"name": n, "value": v, "url": self.address} for n, v in cookies.items()])
        page = context.new_page()
        page.on("console", lambda said: self._note(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: self._note(str(error)))
        return page

    def _note(self, text: str) -> None:
        self.faults.append(text)

    def shot(self, page: Page, name: str, *, full: bool = True) -> Path:
        """Save the page as it looks; a page wider than its window is a fault."""
        SHOTS.mkdir(parents=True, exist_ok=True)
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        if "undefined: " in page.locator("body").inner_text():
            self._note(f"{name}: a template shows what its view did not give")
        if wide > 0:
            self._note(f"{name}: the page is {wide} px wider than its window")
        if full:
            page.evaluate("window.scrollTo(0, 0)")
        path = SHOTS / f"{name}.png"
        page.screenshot(path=path, full_page=full)
        return path

    def close(self) -> None:
        """End all contexts."""
        for context in self.contexts:
            context.close()


@pytest.fixture
def walker(browser: Browser, live_server: Any) -> Iterator[Walker]:
    """Give a walker over the live server; it leaves no console fault behind."""
    walking = Walker(browser, live_server.url)
    yield walking
    walking.close()
