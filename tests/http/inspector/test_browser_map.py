"""The map in a real browser: zoom and move by wheel, buttons, hand, fingers and keys; names, lines, filters."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect
from serving import Server

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.proof
Tab = Callable[..., "Page"]


def wide(page: Page) -> float:
    """How much of the map is seen, in its units."""
    told = page.locator("[data-test=map]").get_attribute("viewBox")
    assert told is not None
    return float(told.split()[2])


def left(page: Page) -> float:
    told = page.locator("[data-test=map]").get_attribute("viewBox")
    assert told is not None
    return float(told.split()[0])


def names(page: Page) -> int:
    """How many names are written."""
    return page.locator(".map-name:visible").count()


def test_keys_zoom_and_move(shown: Server, tab: Tab) -> None:
    page = tab(shown, "/map")
    page.locator("[data-test=map-field]").focus()
    page.keyboard.press("+")
    page.keyboard.press("+")
    at = left(page)
    page.keyboard.press("ArrowRight")
    assert left(page) > at
    page.keyboard.press("ArrowLeft")
    assert abs(left(page) - at) < 0.1
    page.keyboard.press("-")
    page.keyboard.press("0")
    assert (wide(page), left(page)) == (960, 0)


def test_the_wheel_zooms_about_the_pointer_and_the_hand_moves(shown: Server, tab: Tab) -> None:
    page = tab(shown, "/map")
    box = page.locator("[data-test=map]").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + box["height"] / 2)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -500)
    page.keyboard.up("Control")
    page.locator("[data-test=map-field].zoomed").wait_for()
    assert left(page) > 300
    at = left(page)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.95, box["y"] + box["height"] / 2, steps=4)
    page.mouse.up()
    assert left(page) < at
    assert "/map" in page.url


def test_two_fingers_zoom_and_the_whole_map_fits_a_telephone(shown: Server, tab: Tab) -> None:
    page = tab(shown, "/map", viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    box = page.locator("[data-test=map]").bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 360
    assert names(page) >= 2
    size = page.locator(".map-name:visible").first.evaluate("one => one.getBoundingClientRect().height")
    assert size >= 11
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    session = page.context.new_cdp_session(page)
    for kind, far in (("touchStart", 20), ("touchMove", 40), ("touchMove", 60), ("touchMove", 80)):
        points = [{"x": x - far, "y": y, "id": 0}, {"x": x + far, "y": y, "id": 1}]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    page.locator("[data-test=map-field].zoomed").wait_for()
    assert wide(page) < 500


def test_a_fact_shows_where_it_was_said_when_it_is_looked_at(shown: Server, tab: Tab) -> None:
    page = tab(shown, "/map")
    expect(page.locator(".map-lines line")).to_have_count(0)
    page.locator(".dot.fact[data-in]").first.focus()
    expect(page.locator(".map-lit line")).to_have_count(1)
    page.get_by_label("Where facts were said").check()
    expect(page.locator(".map-lines:not(.map-lit) line").first).to_be_attached()
    assert "lines=1" in page.url


def test_what_is_sought_is_highlighted_while_one_types_and_the_zoom_stays(shown: Server, tab: Tab) -> None:
    page = tab(shown, "/map")
    page.locator("[data-zoom='1.6']").click()
    seen = wide(page)
    page.get_by_label("Find on the map").press_sequentially("cello")
    expect(page.locator("[data-test=map-found]")).to_contain_text("found")
    assert page.locator(".dot:not(.out)").count() < page.locator(".dot").count()
    expect(page.get_by_label("Find on the map")).to_be_focused()
    assert wide(page) == seen
    assert "q=cello" in page.url
    page.get_by_label("Find on the map").fill("")
    expect(page.locator("[data-test=map-found]")).to_have_count(0)
    page.get_by_label("What is shown").select_option("fact")
    expect(page.locator(".dot.segment.out").first).to_be_attached()
    page.get_by_label("About whom").select_option("Lian")
    expect(page.locator("[data-test=map-found]")).to_have_text("1 found")


def test_without_scripts_the_form_finds_and_dots_lead_on(shown: Server, tab: Tab) -> None:
    page = tab(shown, "/map", java_script_enabled=False)
    page.get_by_label("Find on the map").fill("cello")
    page.locator("[data-test=map-show]").click()
    assert page.locator("[data-test=map-found]").inner_text().endswith("found")
    page.locator("[data-test=map-table] summary").click()
    page.locator("[data-test=map-table] a").first.click()
    assert page.locator("h1").inner_text()
