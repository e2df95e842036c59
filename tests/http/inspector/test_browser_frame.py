"""What all pages share, in a real browser: menu, keys, the viewer's zone, what was done, and print."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from demo_pages import against, mei_of
from playwright.sync_api import expect
from serving import Server

from embermem import demo

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.proof
Tab = Callable[..., "Page"]
At = Callable[[Server, str], str]
TELEPHONE = {"width": 360, "height": 740}


# ------------------------------------------------------------------------------------------------------- the menu


def test_a_touch_beside_the_menu_or_on_its_cross_closes_it(shown: Server, tab: Tab) -> None:
    page = tab(shown, "/pages", viewport=TELEPHONE)
    side = page.locator("#sections")
    page.locator("[data-test=menu]").click()
    page.mouse.click(350, 700)
    expect(side).to_be_hidden()
    page.locator("[data-test=menu]").click()
    page.locator("[data-test=menu-close]").click()
    expect(side).to_be_hidden()


def test_the_menu_opens_without_scripts(shown: Server, tab: Tab) -> None:
    page = tab(shown, "/pages", viewport=TELEPHONE, java_script_enabled=False)
    page.locator("[data-test=menu]").click()
    page.locator("#sections").get_by_role("link", name="Segments").click()
    page.wait_for_url("**/segments?**")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_open_menu_is_for_everybody(shown: Server, tab: Tab, theme: str) -> None:
    page = tab(shown, "/pages", viewport=TELEPHONE, color_scheme=theme)
    page.locator("[data-test=menu]").click()
    assert (
        against(
            page,
            {"type": "rule", "values": ["color-contrast", "button-name", "link-name", "aria-allowed-attr", "list"]},
        )
        == []
    )


@pytest.mark.parametrize("width", [800, 1280, 1920])
def test_where_there_is_room_the_sections_stand_beside_the_page(shown: Server, tab: Tab, width: int) -> None:
    page = tab(shown, "/pages", viewport={"width": width, "height": 860})
    expect(page.locator("[data-test=menu]")).to_be_hidden()
    side, main = page.locator("#sections").bounding_box(), page.locator("#main").bounding_box()
    assert side is not None
    assert main is not None
    assert side["width"] >= 190
    assert side["x"] + side["width"] <= main["x"] + 1
    assert page.evaluate("document.documentElement.scrollWidth") <= width


# ------------------------------------------------------------------------------------------------------- the keys


def test_escape_leaves_an_empty_search_for_where_one_was(shown: Server, tab: Tab) -> None:
    page = tab(shown, "/pages")
    link = page.locator("main a").first
    link.focus()
    page.keyboard.press("/")
    expect(page.locator("#find")).to_be_focused()
    page.keyboard.press("Escape")
    expect(link).to_be_focused()
    page.keyboard.press("g")
    page.keyboard.press("s")
    page.wait_for_url("**/segments?**")


def test_two_keys_open_a_section_on_a_telephone_too(shown: Server, tab: Tab) -> None:
    page = tab(shown, "/pages", viewport=TELEPHONE)
    page.keyboard.press("g")
    page.keyboard.press("s")
    page.wait_for_url("**/segments?**")


# ----------------------------------------------------------------------------------------------- the viewer's zone


def test_days_of_facts_are_those_of_the_owners_zone_for_every_viewer(shown: Server, tab: Tab) -> None:
    fact = next(one for one in mei_of(shown.memory).past_facts() if one.valid_to)
    told = set()
    for zone in ("Asia/Tokyo", "America/Los_Angeles", demo.TIMEZONE):
        page = tab(shown, "/facts?state=past", timezone_id=zone)
        expect(page.locator("html")).to_have_attribute("data-zone", zone)
        told.add(page.locator(f"#fact-{fact.id} .fact-meta .num").first.inner_text())
    assert len(told) == 1


def test_a_browser_that_keeps_no_cookies_is_shown_the_owners_zone_once(shown: Server, tab: Tab) -> None:
    page = tab(shown, "/login", timezone_id="Asia/Tokyo")
    page.context.add_init_script("Object.defineProperty(document, 'cookie', { get: () => '', set: () => {} })")
    page.context.clear_cookies()
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url) if one.is_navigation_request() else None)
    page.goto(f"{shown.url}/pages?user={demo.USER}&agent={demo.AGENT}")
    page.wait_for_timeout(600)
    assert len(asked) == 1
    expect(page.locator("html")).to_have_attribute("data-zone", demo.TIMEZONE)
    expect(page.locator("[data-test=zone]")).to_contain_text(demo.TIMEZONE)


def test_a_page_that_answers_a_form_is_not_asked_for_again(own: Server, tab: Tab) -> None:
    item = mei_of(own.memory).pages()[3].id
    page = tab(own, f"/forget?kind=page&id={item}", timezone_id="Asia/Tokyo")
    expect(page.locator("html")).to_have_attribute("data-zone", "Asia/Tokyo")
    page.context.clear_cookies()
    methods: list[str] = []
    page.on("request", lambda one: methods.append(one.method) if one.is_navigation_request() else None)
    page.locator("[data-test=forget-now]").click()
    expect(page.locator("[data-test=receipt]")).to_be_visible()
    page.wait_for_timeout(500)
    assert methods == ["POST"]
    expect(page.locator("html")).to_have_attribute("data-zone", demo.TIMEZONE)


# ---------------------------------------------------------------------------------------------------- what was done


def test_a_change_that_is_none_is_not_told(shown: Server, tab: Tab, at: At) -> None:
    page = tab(shown, "/pages")
    for told in ("0", "-1", "99999", "x", "9" * 40, "٣"):
        page.goto(at(shown, f"/pages?done={told}"))
        expect(page.locator("[data-test=done]")).to_have_count(0)


# ------------------------------------------------------------------------------------------------- print, motion


def test_a_print_is_dark_on_white_in_both_themes(shown: Server, tab: Tab) -> None:
    for theme in ("light", "dark"):
        page = tab(shown, "/persona", color_scheme=theme)
        page.emulate_media(media="print")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert page.evaluate("getComputedStyle(document.querySelector('h1')).color") == "rgb(0, 0, 0)"
        for gone in (".top", "#sections"):
            expect(page.locator(gone)).to_be_hidden()


def test_nothing_moves_for_those_who_want_it_still(shown: Server, tab: Tab) -> None:
    page = tab(shown, "/overview")
    moving = (
        "[...document.querySelectorAll('*')].filter(one => parseFloat(getComputedStyle(one).transitionDuration) > 0)"
    )
    assert page.evaluate(f"{moving}.length") == 0
