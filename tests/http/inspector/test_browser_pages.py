"""The inspector in a real browser: every page, for everybody: both themes, keyboard alone, narrow, without scripts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from demo_pages import PAGES, against, mei_of, violations
from playwright.sync_api import expect
from serving import Server

from embermem import OwnerMemory, demo

if TYPE_CHECKING:
    from playwright.sync_api import Dialog, Page

pytestmark = pytest.mark.proof
Tab = Callable[..., "Page"]
At = Callable[[Server, str], str]
NOT_FOUND = ("404 (Not Found)",)
ORDER = ["heading-order", "page-has-heading-one", "landmark-one-main", "landmark-unique", "region", "skip-link"]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_for_everybody_in_both_themes_and_fits_a_telephone(shown: Server, tab: Tab, name: str) -> None:
    page = tab(shown, PAGES[name](mei_of(shown.memory)), expected=NOT_FOUND)
    page.wait_for_load_state()
    assert against(page, {"type": "rule", "values": ORDER}) == []
    _opened(page)
    assert violations(page) == []
    page.set_viewport_size({"width": 360, "height": 740})
    page.reload()
    _opened(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_dialogs_are_for_everybody_in_both_themes(shown: Server, tab: Tab) -> None:
    page = tab(shown, f"/pages/{mei_of(shown.memory).pages()[3].id}")
    for opener, dialog in (("[data-test=forget]", "#dialog"), ("#help", "#shortcuts"), ("#owner summary", "#owner ul")):
        page.locator(opener).click()
        page.locator(dialog).wait_for()
        assert violations(page) == [], dialog
        page.keyboard.press("Escape")


# ------------------------------------------------------------------------------------------------------- keyboard


def test_the_first_tab_stop_skips_to_the_content(shown: Server, tab: Tab) -> None:
    page = tab(shown)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()


def test_sections_are_reached_by_tab_and_by_two_keys(shown: Server, tab: Tab) -> None:
    page = tab(shown)
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent.trim()") == "Segments":
            break
    page.keyboard.press("Enter")
    page.wait_for_url("**/segments?**")
    keys = {
        "o": "/overview",
        "p": "/pages",
        "s": "/segments",
        "k": "/persona",
        "m": "/map",
        "r": "/playground",
        "c": "/chat",
        "i": "/import",
    }
    for key, path in {**keys, "a": "/audit"}.items():
        if page.evaluate("document.activeElement.matches('input')"):
            page.keyboard.press("Tab")
            page.evaluate("document.activeElement.blur()")
        page.keyboard.press("g")
        page.keyboard.press(key)
        page.wait_for_url(f"{shown.url}{path}?**")
        page.wait_for_load_state()
    assert page.locator("nav [aria-current=page]").inner_text() == "Audit log"


def test_shortcuts_open_by_a_question_mark_and_close_by_escape(shown: Server, tab: Tab) -> None:
    page = tab(shown)
    page.keyboard.press("?")
    page.locator("#shortcuts").wait_for()
    assert page.evaluate("document.activeElement.closest('#shortcuts') !== null")
    page.keyboard.press("Escape")
    page.locator("#shortcuts").wait_for(state="hidden")


def test_a_preview_takes_the_focus_and_gives_it_back(shown: Server, tab: Tab) -> None:
    page = tab(shown, f"/pages/{mei_of(shown.memory).pages()[3].id}")
    opener = page.locator("[data-test=forget]")
    opener.focus()
    page.keyboard.press("Enter")
    page.locator("#dialog [data-test=preview]").wait_for()
    assert page.evaluate("document.activeElement.textContent") == "Keep it"
    for _ in range(6):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.closest('main, header, nav') === null")
    page.keyboard.press("Escape")
    page.locator("#dialog").wait_for(state="hidden")
    assert page.evaluate("document.activeElement.dataset.test") == "forget"


# --------------------------------------------------------------------------------------------------------- themes


def test_the_theme_is_the_systems_until_one_is_chosen_and_then_stays(shown: Server, tab: Tab) -> None:
    page = tab(shown, color_scheme="dark")
    assert _theme(page) == "dark"
    page.locator("#theme").click()
    assert _theme(page) == "light"
    page.reload()
    assert _theme(page) == "light"
    page.keyboard.press("t")
    page.goto(f"{shown.url}/segments")
    assert _theme(page) == "dark"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_field_keeps_its_ground_when_it_is_focused(shown: Server, tab: Tab, theme: str) -> None:
    page = tab(shown, f"/facts/{mei_of(shown.memory).facts()[0].id}", color_scheme=theme)
    for field in ("#find", "textarea"):
        ground = "getComputedStyle(document.activeElement).backgroundColor"
        page.locator(field).focus()
        # Its own token, resolved by the browser.
        token = page.evaluate(
            "() => { const probe = document.body.appendChild(document.createElement('i'));"
            " probe.className = 'probe'; const sheet = new CSSStyleSheet();"
            " sheet.replaceSync('.probe { background: var(--surface) }');"
            " document.adoptedStyleSheets = [sheet]; return getComputedStyle(probe).backgroundColor }"
        )
        assert page.evaluate(ground) == token


# ---------------------------------------------------------------------------------------------------- what opens


def test_sources_of_a_fact_a_trait_and_a_line_of_a_profile_open_in_place(shown: Server, tab: Tab, at: At) -> None:
    page = tab(shown, "/persona?person=Lian")
    before = page.url
    page.locator("#knowledge summary").click()
    page.locator("#knowledge mark").first.wait_for()
    assert "Annecy" in page.locator("#knowledge mark").first.inner_text()
    assert page.url == before
    for path, part in (("/persona", "#traits"), ("/persona", "#profile"), ("/overview", "#who")):
        page.goto(at(shown, path))
        page.locator(f"{part} [data-test=sources] summary").first.click()
        page.locator(f"{part} blockquote").first.wait_for()
        assert path in page.url


def test_a_place_on_the_map_opens_what_it_stands_for(shown: Server, tab: Tab) -> None:
    page = tab(shown, "/map")
    page.locator("a.dot.fact").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/facts/**")


def test_heat_is_drawn_over_time_beside_its_number(shown: Server, tab: Tab) -> None:
    page = tab(shown, "/overview")
    for row in page.locator("#heat-time li").all():
        line = row.locator("svg.course polyline").bounding_box()
        number = row.locator(".heat-no").bounding_box()
        assert line is not None
        assert number is not None
        assert line["width"] > 0
        assert line["x"] + line["width"] <= number["x"]


def test_what_a_title_or_an_instruction_holds_is_drawn_as_text(
    own: Server, tab: Tab, at: At, demo_copy: Path, titled: Callable[..., None]
) -> None:
    mei, text = mei_of(own.memory), '<img src=x onerror="alert(1)"><b>bold'
    titled(demo_copy / "demo.db", mei.owner, text)
    mei.add_instruction(text)
    asked: list[str] = []

    def alerted(dialog: Dialog) -> None:
        asked.append(dialog.message)
        dialog.dismiss()

    page = tab(own)
    page.on("dialog", alerted)
    expect(page.locator("#heat-time")).to_contain_text(text)
    for path in (
        "/overview",
        "/segments",
        "/map",
        "/persona",
        f"/segments/{_titled(mei, text)}",
        "/audit",
        "/search?q=bold",
    ):
        page.goto(at(own, path))
        page.wait_for_load_state()
        expect(page.locator("#main")).to_contain_text(text[:20])
        assert page.locator("#main img, #main bdi b, #main text b").count() == 0, path
    assert asked == []


def test_the_recall_lab_answers_while_one_types(shown: Server, tab: Tab) -> None:
    page, mei = tab(shown, "/playground"), mei_of(shown.memory)
    page.locator("#q").press_sequentially("Where do I live?")
    expect(page.locator("#prompt-text")).to_have_text(mei.recall("Where do I live?").text)
    packed = {hit.rank for hit in mei.recall("Where do I live?").packed}
    expect(page.locator("[data-test=hit]")).to_have_count(len(packed | {*range(1, 11)}))
    assert page.evaluate("document.activeElement.id") == "q"
    assert "q=Where" in page.url
    page.locator("[data-test=settings] summary").click()
    page.locator("#lab [name=k]").fill("3")
    expect(page.locator("[data-test=hit]")).to_have_count(len(packed | {1, 2, 3}))
    page.locator("#lab [name=budget]").fill("150")
    expect(page.locator(".verdict")).to_contain_text("of 150 tokens")
    assert page.locator("#prompt-text").text_content() == mei.recall("Where do I live?", budget=150).text
    page.locator("#lab [name=preset]").select_option("paper")
    expect(page.locator(".verdict")).to_contain_text("preset paper")
    assert page.locator("#prompt-text").text_content() == mei.recall("Where do I live?", preset="paper").text
    page.locator("#lab [name=preset]").select_option("default")
    page.locator("#q").fill("What happened last week?")
    page.locator("#lab [name=at]").fill("2026-03-10")
    expected = mei.recall("What happened last week?", budget=150, at="2026-03-10").text
    assert expected != mei.recall("What happened last week?", budget=150).text
    expect(page.locator("#prompt-text")).to_have_text(expected)
    assert page.locator("#prompt-text").text_content() == expected
    page.reload()
    assert page.locator("#prompt-text").text_content() == expected


def test_every_line_at_a_glance_leads_to_its_words(shown: Server, tab: Tab, at: At) -> None:
    page = tab(shown, "/overview")
    for hook, leads in (("around", "/persona"), ("topic", "/segments/"), ("news", "/audit/")):
        page.locator(f"[data-test={hook}] a").first.click()
        page.wait_for_url(f"**{leads}**")
        page.goto(at(shown, "/overview"))
    page.locator("#who [data-test=sources] summary").first.click()
    expect(page.locator("#who blockquote").first).to_be_visible()


# -------------------------------------------------------------------------------------- scripts off, and not there


def test_without_scripts_one_can_still_read_and_search(shown: Server, tab: Tab, at: At) -> None:
    page = tab(shown, java_script_enabled=False, color_scheme="dark")
    assert page.locator("#tiers").inner_text()
    page.locator("nav a", has_text="Facts").click()
    page.locator("[data-test=fact]", has_text="rabbit").locator("summary").click()
    page.locator("[data-test=fact]", has_text="rabbit").get_by_role("link", name="What was said").click()
    assert "Biscuit" in page.locator("mark").first.inner_text()
    page.locator("#find").fill("cello")
    page.locator("#find").press("Enter")
    assert page.locator("[data-test=found-utterances] li").count() > 1
    page.goto(at(shown, "/playground"))
    page.locator("#q").fill("What am I allergic to?")
    page.get_by_role("button", name="Recall").click()
    assert "walnuts" in page.locator("#prompt-text").inner_text()


def test_an_address_where_nothing_is_leads_home(shown: Server, tab: Tab) -> None:
    page = tab(shown, "/nowhere", expected=NOT_FOUND)
    assert "nothing at this address" in page.locator("[data-test=failure]").inner_text().lower()
    page.get_by_role("button", name="To the overview").click()
    expect(page.locator("[data-test=who]")).to_be_visible()
    assert "/overview" in page.url
    assert f"user={demo.USER}" in page.url


# ---------------------------------------------------------------------------------------------------------- words


def _titled(mei: OwnerMemory, text: str) -> str:
    return next(one.id for one in mei.segments() if one.title == text)


def _theme(page: Page) -> Any:
    return page.evaluate("document.documentElement.dataset.theme")


def _opened(page: Page) -> None:
    """With what opens in place open, so that it is looked at too."""
    page.wait_for_load_state()
    for details in page.locator("main details:not([data-test=sources])").all()[:4]:
        details.evaluate("one => { one.open = true }")
