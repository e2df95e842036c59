"""Operations in a real browser: every action, and what moves by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect
from serving import Server, client

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.proof
Tab = Callable[..., "Page"]


@pytest.fixture
def copying(own: Server, tab: Tab) -> Page:
    """A tab that may copy."""
    return tab(own, "/operations/keys", permissions=["clipboard-read", "clipboard-write"])


def test_a_new_key_is_copied_by_its_button(copying: Page) -> None:
    copying.locator("#key-name").fill("phone")
    copying.locator("input[value=everything]").check()
    copying.locator("input[name=read_only]").check()
    copying.locator("[data-test=make-key]").click()
    text = copying.locator("[data-test=new-key]").inner_text()
    copying.locator("[data-test=copy-key]").click()
    expect(copying.locator("[data-test=copy-key]")).to_have_text("Copied")
    assert copying.evaluate("navigator.clipboard.readText()") == text


def test_requests_come_in_by_themselves_and_stand_still_when_paused(own: Server, tab: Tab) -> None:
    page = tab(own, "/operations/requests")
    with client(own.url) as c:
        c.get("/v1/spaces")
        expect(page.locator("[data-test=requests]")).to_contain_text("/v1/spaces")
        page.locator("[data-test=pause]").click()
        page.wait_for_url("**paused=1")
        c.get("/v1/fields")
        page.wait_for_timeout(3000)
        expect(page.locator("[data-test=requests]")).not_to_contain_text("/v1/fields")
        page.locator("[data-test=pause]").click()
        expect(page.locator("[data-test=requests]")).to_contain_text("/v1/fields")


def test_without_scripts_everything_is_done_by_forms_and_links(own: Server, tab: Tab) -> None:
    page = tab(own, "/operations/keys", java_script_enabled=False)
    page.locator("#key-name").fill("phone")
    page.locator("input[value=everything]").check()
    page.locator("[data-test=make-key]").click()
    assert page.locator("[data-test=new-key]").inner_text().startswith("ember_")
    page.locator("[data-test=revoke]").click()
    page.locator("[data-test=revoke-now]").click()
    assert "revoked" in page.locator("[data-test=key]").inner_text()
    page.goto(f"{own.url}/operations/requests")
    assert page.locator("[data-test=request]").count() > 0
