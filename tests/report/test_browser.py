"""The page in a real browser: everything is drawn, nothing is asked of the network, and it fits a phone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page

from tests._browser import open_browser

Scheme = Literal["light", "dark"]
PHONE, DESKTOP = 390, 1280
LUMINANCE = """element => {
  const [r, g, b] = getComputedStyle(element).getPropertyValue("background-color").match(/[0-9.]+/g).map(Number);
  return (r + g + b) / 765; }"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as opened:
        yield opened


def opened(browser: Browser, page: Path, width: int, scheme: Scheme) -> tuple[Page, list[str]]:
    """The page at a width, and a list that collects what it should not do."""
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    tab = context.new_page()
    complaints: list[str] = []
    tab.on("console", lambda message: complaints.append(f"console: {message.text}"))
    tab.on("pageerror", lambda error: complaints.append(f"error: {error}"))
    tab.on("dialog", lambda dialog: complaints.append(f"dialog: {dialog.message}"))
    tab.on("request", lambda request: complaints.append(f"request: {request.url[:80]}"))
    tab.goto(page.as_uri(), timeout=120_000)
    complaints.remove(f"request: {page.as_uri()[:80]}")
    return tab, [each for each in complaints if not each.startswith("request: data:")]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [PHONE, DESKTOP])
def test_everything_is_drawn_within_the_screen_and_nothing_is_requested(
    browser: Browser, page: Path, width: int, scheme: Scheme
) -> None:
    tab, complaints = opened(browser, page, width, scheme)
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    images = tab.evaluate("[...document.images].map(image => image.complete && image.naturalWidth)")
    assert len(images) > 20
    assert all(images)
    drawings = tab.evaluate(
        "[...document.querySelectorAll('figure > svg')].map(s => s.getBBox().width * s.clientWidth)"
    )
    assert len(drawings) > 10
    assert all(drawings)
    assert complaints == []
    tab.context.close()


def test_colors_follow_the_scheme(browser: Browser, page: Path) -> None:
    for scheme, is_light in (("light", True), ("dark", False)):
        tab, _ = opened(browser, page, DESKTOP, scheme)  # type: ignore[arg-type]
        assert (tab.eval_on_selector("body", LUMINANCE) > 0.5) is is_light
        inks = tab.evaluate("[...document.querySelectorAll('svg text')].map(t => getComputedStyle(t).fill)")
        paper = tab.evaluate("getComputedStyle(document.querySelector('section')).backgroundColor")
        assert inks
        assert paper not in inks
        tab.context.close()
