"""The audit log in a real browser: what is folded opens, the filters narrow, undo works and can be undone."""

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


def test_bookkeeping_and_sources_open_in_place(shown: Server, tab: Tab) -> None:
    page = tab(shown, "/audit")
    page.locator("[data-test=books] summary").first.click()
    expect(page.locator("[data-test=books] [data-test=step]").first).to_be_visible()
    page.locator("[data-test=entry] [data-test=sources] summary").first.click()
    expect(page.locator("[data-test=entry] blockquote").first).to_be_visible()
    assert page.url.endswith("agent=companion")


def test_a_new_change_comes_by_itself(own: Server, tab: Tab) -> None:
    page = tab(own, "/audit")
    expect(page.locator("#live")).to_have_attribute("data-state", "on")
    mei_of(own.memory).pin(mei_of(own.memory).facts()[0].id)
    expect(page.locator("[data-test=entry]").first).to_contain_text("pinned", ignore_case=True)


@pytest.mark.parametrize("scripts", [True, False])
def test_a_change_is_undone_on_its_page_once_its_plan_was_seen(own: Server, tab: Tab, scripts: bool) -> None:
    fact = mei_of(own.memory).facts()[0]
    mei_of(own.memory).pin(fact.id)
    page = tab(own, f"/audit/{mei_of(own.memory).history(fact.id)[-1].no}", java_script_enabled=scripts)
    if not scripts:
        page.get_by_role("link", name="What undoing it would do").click()
    expect(page.locator("#main")).to_contain_text("Undoing it would do this")
    page.get_by_role("button", name="Undo change").click()
    page.wait_for_url(lambda address: not address.partition("?")[0].endswith("/plan"))
    assert not mei_of(own.memory).fact(fact.id).pinned
