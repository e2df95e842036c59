"""The pages of facts in a real browser: found, chosen, changed one by one and several at once, with undo in reach."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from demo_pages import fact_of, mei_of
from playwright.sync_api import expect
from serving import Server

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.proof
Tab = Callable[..., "Page"]
At = Callable[[Server, str], str]
HOME = {"attribute": "lives_in", "valid_from": "2026-06-01", "about": "user"}


def test_a_list_is_narrowed_by_each_choice_and_its_sources_open_in_place(own: Server, tab: Tab) -> None:
    mei = mei_of(own.memory)
    page = tab(own, "/facts")
    page.locator("[data-test=filter] select[name=attribute]").select_option("has_pet")
    expect(page.locator("[data-test=fact]")).to_have_count(mei.find_facts(attribute="has_pet").total)
    page.locator("[data-test=sources] summary").first.click()
    expect(page.locator("[data-test=sources] mark").first).to_be_visible()
    page.locator("select[name=state]").select_option("past")
    expect(page.locator("[data-test=chips] a.badge")).to_have_count(2)
    page.get_by_role("link", name="Clear all").click()
    page.locator("select[name=origin]").select_option("caller")
    expect(page.locator("[data-test=found]")).to_contain_text(str(mei.find_facts(origin="caller").total))


def test_all_of_a_page_are_chosen_by_the_keyboard_and_retired_and_that_is_undone(own: Server, tab: Tab) -> None:
    mei = mei_of(own.memory)
    before = mei.find_facts().total
    page = tab(own, "/facts")
    page.get_by_label("all on this page").focus()
    page.keyboard.press("Space")
    expect(page.locator("[data-count]")).to_have_text(f"{before} facts chosen")
    page.get_by_role("button", name="Retire", exact=True).focus()
    page.keyboard.press("Enter")
    expect(page.locator("[data-test=empty]")).to_be_visible()
    page.locator("[data-test=undo-done]").click()
    expect(page.locator("[data-test=found]")).to_have_text(f"{before} facts")


def test_two_facts_are_merged_and_that_is_undone(own: Server, tab: Tab) -> None:
    mei = mei_of(own.memory)
    (other,) = mei.learn([{"text": "keeps a rabbit called Biscuit", "attribute": "does"}])
    pet = fact_of(mei, "has a rabbit named Biscuit")
    page = tab(own, "/facts?q=biscuit")
    page.locator(f"input[value={pet.id}]").check()
    expect(page.get_by_role("button", name="Merge…")).to_be_disabled()
    page.locator(f"input[value={other.id}]").check()
    page.get_by_role("button", name="Merge…").click()
    page.get_by_label("has a rabbit named Biscuit").check()
    page.locator("[data-test=merge-now]").click()
    expect(page.locator("[data-test=done]")).to_be_visible()
    assert "q=biscuit" in page.url
    whole = fact_of(mei, "has a rabbit named Biscuit")
    assert whole.sources == pet.sources
    assert not mei.fact(other.id).current
    page.locator("[data-test=undo-done]").click()
    expect(page.locator(f"#fact-{other.id}")).to_be_visible()
    assert mei.fact(pet.id).current


@pytest.mark.parametrize("scripts", [True, False])
def test_several_facts_are_forgotten_after_a_preview(own: Server, tab: Tab, scripts: bool) -> None:
    mei = mei_of(own.memory)
    before = {one.id for one in mei.facts()}
    page = tab(own, "/facts", java_script_enabled=scripts)
    for place in (0, 1):
        page.locator("input[name=fact]").nth(place).check()
    page.get_by_role("button", name="Forget…").click()
    expect(page.locator("[data-test=chosen] li")).to_have_count(2)
    page.get_by_role("button", name="Keep them").click()
    assert {one.id for one in mei.facts()} == before
    for place in (0, 1):
        page.locator("input[name=fact]").nth(place).set_checked(True)
    page.get_by_role("button", name="Forget…").click()
    page.locator("[data-test=forget-now]").click()
    expect(page.locator("[data-test=receipt]")).to_be_visible()
    assert len({one.id for one in mei.facts()}) == len(before) - 2


def test_without_scripts_facts_are_found_and_pinned(own: Server, tab: Tab) -> None:
    mei = mei_of(own.memory)
    page = tab(own, "/facts", java_script_enabled=False)
    page.get_by_label("Words of a fact").fill("rabbit")
    page.get_by_role("button", name="Find").click()
    page.locator("input[name=fact]").first.check()
    page.get_by_role("button", name="Pin", exact=True).click()
    assert page.locator("[data-test=done]").is_visible()
    assert len(mei.find_facts(state="pinned").facts) == 1
    page.locator("[data-test=undo-done]").click()
    assert mei.find_facts(state="pinned").facts == ()
