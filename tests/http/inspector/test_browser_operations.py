"""Operations in a real browser: every action, and what moves by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect
from serving import Server, client, key_for, running

from embermem import Memory

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


def test_a_slow_route_is_found_with_one_click(own: Server, tab: Tab) -> None:
    with client(own.url) as c:
        c.get("/v1/fields")
        c.get("/v1/owners")
    page = tab(own, "/operations/requests?paused=1")
    page.locator("[data-test=route] a", has_text="/v1/owners").click()
    expect(page.locator("[data-test=request]")).to_have_count(1)
    page.locator("select[name=status]").select_option("5")
    expect(page.locator("[data-test=requests] [data-test=empty]")).to_be_visible()


def test_an_owner_is_settled_by_hand_and_the_page_follows(own: Server, tab: Tab) -> None:
    for number in range(9):
        own.memory.of("zoe").add(f"I like figs, said {number} times.", "Noted.")
    page = tab(own, "/operations/workers")
    expect(page.locator("[data-test=due]")).to_contain_text("zoe")
    page.locator("main input[name=user]").fill("zoe")
    page.locator("[data-test=settle]").click()
    expect(page.locator("[data-test=operation]")).to_contain_text("pages placed")
    assert own.memory.of("zoe").stats().pending == 0
    expect(page.locator("[data-test=wake]")).to_be_disabled()  # this process has no background thread


def test_the_background_thread_is_woken(demo_copy: Path, tab: Tab) -> None:
    with Memory(demo_copy / "demo.db", embedder="hashed") as memory, running(memory) as url:
        page = tab(Server(url=url, memory=memory), "/operations/workers")
        page.locator("[data-test=wake]").click()
        expect(page.locator("[data-test=woken]")).to_contain_text("looks for work now")
        assert memory.background_state().running
        page.close()


def test_a_setting_is_found(own: Server, tab: Tab) -> None:
    page = tab(own, "/operations/settings")
    page.locator("[data-test=find-setting]").fill("retention floor")
    page.keyboard.press("Enter")
    expect(page.locator("[data-test=setting]")).to_have_count(1)
    expect(page.locator("[data-test=setting]")).to_contain_text("0.05")


@pytest.fixture
def locked(own: Server) -> Iterator[tuple[Memory, str]]:
    """The same memory on a server that requires keys."""
    with running(own.memory, require_keys=True) as url:
        yield own.memory, url


def test_what_a_key_may_decides_what_the_navigation_shows(locked: tuple[Memory, str], tab: Tab) -> None:
    memory, url = locked
    for owners, read_only, links, buttons in ((("mei",), False, 0, 0), (("*",), True, 1, 0), (("*",), False, 1, 1)):
        _, text = key_for(memory, *owners, read_only=read_only)
        page = tab(Server(url=url, memory=memory), "/login", expected=("403 (Forbidden)",))
        page.locator("input[name=key]").fill(text)
        page.locator("main button").first.click()
        page.wait_for_url(f"{url}/")
        expect(page.locator("nav a[data-go=e]")).to_have_count(links)
        page.goto(f"{url}/operations/keys")
        expect(page.locator("[data-test=make]")).to_have_count(buttons)


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
