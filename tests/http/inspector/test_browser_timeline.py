"""The timeline in a real browser: zooming and moving by wheel, hand and keys, filters, and without scripts."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect
from serving import Server

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.proof
Tab = Callable[..., "Page"]
WHOLE = "23 Feb 2026 to 20 Jun 2026"


def span(page: Page) -> str:
    """What the span is called that is shown."""
    return page.locator("[data-test=span]").inner_text()


def test_plus_minus_arrows_and_nought_zoom_and_move(shown: Server, tab: Tab) -> None:
    page = tab(shown, "/timeline")
    page.locator("[data-test=drawing]").focus()
    page.keyboard.press("+")
    expect(page.locator("[data-test=span]")).not_to_have_text(WHOLE)
    closer = span(page)
    expect(page.locator("[data-test=drawing]")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(page.locator("[data-test=span]")).not_to_have_text(closer)
    page.keyboard.press("-")
    page.keyboard.press("0")
    expect(page.locator("[data-test=span]")).to_have_text(WHOLE)
    expect(page.locator("[data-test=drawing]")).to_be_focused()


def test_the_wheel_zooms_about_the_pointer_and_the_hand_moves(shown: Server, tab: Tab) -> None:
    page = tab(shown, "/timeline")
    box = page.locator("[data-test=drawing]").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 10, box["y"] + 60)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -400)
    page.keyboard.up("Control")
    expect(page.locator("[data-test=span]")).to_have_text(re.compile(r"^2[2-5] Feb 2026 to .* (Apr|May) 2026$"))
    before = span(page)
    page.mouse.move(box["x"] + 300, box["y"] + 90)
    page.mouse.down()
    page.mouse.move(box["x"] + 100, box["y"] + 92, steps=4)
    page.mouse.up()
    expect(page.locator("[data-test=span]")).not_to_have_text(before)
    assert "/timeline?" in page.url


def test_the_wheel_without_a_key_scrolls_the_page(shown: Server, tab: Tab) -> None:
    page = tab(shown, "/timeline")
    box = page.locator("[data-test=drawing]").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 300, box["y"] + 60)
    page.mouse.wheel(0, 300)
    while not page.evaluate("window.scrollY"):
        page.wait_for_timeout(20)
    assert span(page) == WHOLE


def test_a_mark_is_reached_by_keys_and_opens_its_page(shown: Server, tab: Tab) -> None:
    page = tab(shown, "/timeline")
    page.locator(".tl-wide .tl-strip.of-facts").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/facts/**")
    page.go_back()
    page.locator(".tl-wide .tl-strip.of-topics").first.click()
    page.wait_for_url("**/segments/**")


def test_two_fingers_zoom_on_a_telephone(shown: Server, tab: Tab) -> None:
    page = tab(shown, "/timeline", viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    expect(page.locator(".tl-narrow")).to_be_visible()
    expect(page.locator(".tl-wide")).to_be_hidden()
    box = page.locator("[data-test=drawing]").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + 80
    session = page.context.new_cdp_session(page)

    def touch(kind: str, *places: float) -> None:
        points = [{"x": x + at, "y": y, "id": number} for number, at in enumerate(places)]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", -20, 20)
    for wide in (35, 50, 70, 90):
        touch("touchMove", -wide, wide)
    touch("touchEnd")
    expect(page.locator("[data-test=span]")).not_to_have_text(WHOLE)


def test_without_scripts_links_and_the_form_do_it(shown: Server, tab: Tab) -> None:
    page = tab(shown, "/timeline", java_script_enabled=False)
    page.get_by_role("link", name="month", exact=True).click()
    assert span(page) == "Jun 2026"
    page.locator("[data-test=filters] summary").click()
    page.get_by_label("From").fill("2026-03-01")
    page.get_by_label("To", exact=True).fill("2026-03-31")
    page.get_by_role("button", name="Show", exact=True).click()
    assert span(page) == "Mar 2026"
