"""The overview and the persona in a real browser: what is seen first, where it leads, and what is done and undone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from demo_pages import mei_of
from playwright.sync_api import expect
from serving import Server

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.proof
Tab = Callable[..., "Page"]
At = Callable[[Server, str], str]


def test_every_line_at_a_glance_leads_to_its_words(shown: Server, tab: Tab, at: At) -> None:
    page = tab(shown, "/overview")
    for hook, leads in (("around", "/persona"), ("topic", "/segments/"), ("news", "/audit/")):
        page.locator(f"[data-test={hook}] a").first.click()
        page.wait_for_url(f"**{leads}**")
        page.goto(at(shown, "/overview"))
    page.locator("#who [data-test=sources] summary").first.click()
    expect(page.locator("#who blockquote").first).to_be_visible()


def test_a_profile_is_edited_and_the_edit_is_undone_beside(own: Server, tab: Tab) -> None:
    mei = mei_of(own.memory)
    page = tab(own, "/persona")
    page.locator("[data-test=edit-user-profile] summary").click()
    page.locator("#profile").get_by_label("Field").fill("favourite tea")
    page.locator("#profile").get_by_label("Value").fill("oolong")
    page.get_by_role("button", name="Set").click()
    expect(page.locator("#profile")).to_contain_text("oolong")
    _undo(page)
    expect(page.locator("#profile")).not_to_contain_text("oolong")
    assert "favourite_tea" not in {line.name for line in mei.profile()}
    page.get_by_role("button", name="Take occupation away").click()
    expect(page.locator("#profile")).not_to_contain_text("occupation")
    _undo(page)
    expect(page.locator("#profile")).to_contain_text("occupation")


def test_an_instruction_is_added_and_ended_and_each_is_undone_beside(own: Server, tab: Tab) -> None:
    mei = mei_of(own.memory)
    (clock,) = mei.instructions()
    page = tab(own, "/persona")
    page.locator("[data-test=add-instruction] summary").click()
    page.get_by_label("Instruction").fill("Always answer in metric units.")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator("[data-test=instruction]")).to_have_count(2)
    _undo(page)
    expect(page.locator("[data-test=instruction]")).to_have_count(1)
    page.get_by_role("button", name=f"End it: {clock.text}").click()
    expect(page.locator("[data-test=instruction]")).to_have_count(0)
    assert mei.instructions() == ()
    _undo(page)
    expect(page.locator("[data-test=instruction]")).to_have_count(1)
    assert [one.id for one in mei.instructions()] == [clock.id]


def test_people_are_merged_and_split_and_each_is_undone_beside(own: Server, tab: Tab, at: At) -> None:
    mei = mei_of(own.memory)
    before = {one.name for one in mei.people()}
    page = tab(own, "/persona")
    page.locator("[data-test=person]").get_by_role("link", name="Lian", exact=True).click()
    expect(page.locator("#knowledge")).to_contain_text("Lian lives in Annecy")
    expect(page.locator("#main")).not_to_contain_text("Biscuit")
    page.get_by_label("The same person as").select_option("Inès")
    page.get_by_role("button", name="Merge").click()
    expect(page.locator("[data-test=done]")).to_be_visible()
    assert len(mei.people()) == len(before) - 1
    _undo(page)
    assert {one.name for one in mei.people()} == before
    page.goto(at(own, "/persona?person=Lian"))
    page.get_by_role("button", name="Mei's sister is somebody else").click()
    expect(page.locator("[data-test=done]")).to_be_visible()
    assert len(mei.people()) == len(before) + 1
    _undo(page)
    assert {one.name for one in mei.people()} == before


def test_who_of_the_speakers_is_the_user_is_told_and_undone_beside(own: Server, tab: Tab) -> None:
    group = own.memory.of("flat")
    said = [("Vera", "I live in Lyon."), ("Kit", "I live in Oslo.")]
    said += [("Kit", f"The tulip number {number} is red.") for number in range(8)]
    group.add_messages([{"role": "user", "name": name, "content": text} for name, text in said])
    group.settle()
    page = tab(own)
    page.goto(f"{own.url}/persona?user=flat&agent=default")
    page.locator("[data-test=undecided]").get_by_role("button", name="Vera").click()
    expect(page.locator("[data-test=undecided]")).to_have_count(0)
    assert [line.value for line in group.profile()] == ["Lyon"]
    _undo(page)
    expect(page.locator("[data-test=undecided]")).to_be_visible()


def test_pages_are_narrowed_by_speaker_and_days_and_shown_whole_again(shown: Server, tab: Tab) -> None:
    page = tab(shown, "/pages")
    whole = page.locator("[data-test=page]").count()
    page.get_by_label("Speaker").fill("companion")
    page.get_by_label("Said from").fill("2026-03-08")
    page.get_by_label("to", exact=True).fill("2026-03-08")
    page.locator("[data-test=narrow]").get_by_role("button", name="Show").click()
    page.wait_for_url("**speaker=companion**")
    assert 0 < page.locator("[data-test=page]").count() < whole
    assert set(page.locator("[data-test=page] .speaker").all_inner_texts()) == {"companion"}
    page.get_by_role("link", name="Show all").click()
    expect(page.locator("[data-test=page]")).to_have_count(whole)


def test_topics_are_found_by_their_words(shown: Server, tab: Tab) -> None:
    page = tab(shown, "/segments")
    whole = page.locator("[data-test=segment]").count()
    page.get_by_label("Words of a topic").fill("cello lesson")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=cello**")
    assert 0 < page.locator("[data-test=segment]").count() < whole
    page.get_by_label("Words of a topic").fill("zeppelin")
    page.keyboard.press("Enter")
    expect(page.locator("[data-test=none-found]")).to_be_visible()


def _undo(page: Page) -> None:
    """What was done just now, by the button beside."""
    page.locator("[data-test=done]").get_by_role("button", name="Undo").click()
    page.wait_for_load_state()
