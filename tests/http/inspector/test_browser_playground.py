"""The playground in a real browser: lines and hits marked together, two contexts, a file of what was wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from demo_pages import mei_of
from playwright.sync_api import expect
from serving import Server

from embermem.core.types import Context

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.proof
Tab = Callable[..., "Page"]
QUERY = "Where do I live, and where did I live before?"
ASKED = "/playground?q=Where+do+I+live%2C+and+where+did+I+live+before%3F&budget=300"


def _recalled(server: Server) -> Context:
    return mei_of(server.memory).recall(QUERY, budget=300)


def test_at_first_there_are_only_a_query_a_budget_and_a_button(shown: Server, tab: Tab) -> None:
    page = tab(shown, "/playground")
    visible = [one for one in page.locator("#lab input, #lab select, #lab button").all() if one.is_visible()]
    assert [one.get_attribute("name") or one.inner_text() for one in visible] == ["q", "budget", "Recall"]
    page.locator("#q").fill(QUERY)
    page.locator("#lab [name=budget]").fill("300")
    page.get_by_role("button", name="Recall").click()
    expect(page.locator("#prompt-text")).to_have_text(_recalled(shown).text)
    assert page.locator("#prompt-text").text_content() == _recalled(shown).text


def test_two_budgets_are_compared_and_the_address_holds_both(shown: Server, tab: Tab) -> None:
    page, mei = tab(shown, ASKED), mei_of(shown.memory)
    page.locator("[data-test=compare]").click()
    page.locator("[name=budget2]").fill("600")
    page.get_by_role("button", name="Recall both").click()
    more = mei.recall(QUERY, budget=600).text
    expect(page.locator("#prompt-text2")).to_have_text(more)
    only = {*more.split("\n")} - {*_recalled(shown).text.split("\n")}
    expect(page.locator("[data-test=difference]")).to_contain_text(f"Only right: {len(only)}")
    assert page.locator("#prompt-text2 .only").count() == len(only)
    assert "budget2=600" in page.url
    page.reload()
    assert page.locator("#prompt-text2").text_content() == more
    page.locator("[data-test=compare]").click()
    expect(page.locator("#prompt-text2")).to_have_count(0)
    expect(page.locator("#q")).to_have_value(QUERY)


@pytest.mark.parametrize("scripts", [True, False])
def test_what_was_wrong_is_marked_and_downloaded_for_the_bench(shown: Server, tab: Tab, scripts: bool) -> None:
    mei = mei_of(shown.memory)
    packed = _recalled(shown).packed[0].utterance
    page = tab(shown, ASKED, java_script_enabled=scripts)
    page.locator("[data-test=wrong] > summary").click()
    page.locator(f"[data-test=packed] input[value='{packed.seq}']").check()
    page.locator("[name=note]").fill("the cello is missing")
    page.locator("[name=find]").fill("cello teacher")
    page.locator("[data-test=find-missing]").click()
    page.locator("[data-test=candidates] input").first.check()
    expect(page.locator(f"[data-test=packed] input[value='{packed.seq}']")).to_be_checked()
    expect(page.locator("[name=note]")).to_have_value("the cello is missing")
    with page.expect_download() as download:
        page.locator("[data-test=recall-set]").click()
    assert download.value.suggested_filename == "recall-set.json"
    (conversation,) = json.loads(download.value.path().read_text(encoding="utf-8"))["conversations"]
    (asked,) = conversation["questions"]
    assert (asked["text"], asked["note"], asked["unwanted"]) == (QUERY, "the cello is missing", [packed.id])
    assert len(asked["evidence"]) == 1
    assert {turn["id"] for thread in conversation["threads"] for turn in thread["turns"]} <= {
        one.id for one in mei.utterances()
    }


def test_without_scripts_lines_and_hits_lead_to_each_other(shown: Server, tab: Tab) -> None:
    page = tab(shown, ASKED, java_script_enabled=False)
    seq = _recalled(shown).packed[0].utterance.seq
    page.locator(f"#a-line-hit-{seq}").click()
    assert page.url.endswith(f"#a-hit-{seq}")
    page.locator(f"#a-hit-{seq}").get_by_role("link", name="Its line in the context").click()
    assert page.url.endswith(f"#a-line-hit-{seq}")
    page.locator("[data-test=settings] summary").click()
    page.locator("#lab [name=preset]").select_option("paper")
    page.get_by_role("button", name="Recall").click()
    assert (
        page.locator("#prompt-text").text_content()
        == mei_of(shown.memory).recall(QUERY, budget=300, preset="paper").text
    )
