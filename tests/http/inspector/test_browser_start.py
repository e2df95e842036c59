"""The start page, the header's list, documents and spaces in a real browser: each action, and for everybody."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from demo_pages import violations
from playwright.sync_api import expect
from serving import Server, running

from embermem import Memory
from embermem.core.types import NO_USER

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.proof
Tab = Callable[..., "Page"]
TALE = "\n\n".join(f"## Part {number}\n\nThis is part {number} of the tale of the heron." for number in range(80))


@contextmanager
def peopled(folder: Path) -> Iterator[Memory]:
    """Sixty owners, documents of one of them, and a space."""
    with Memory(folder / "memory.db", embedder="hashed", background=False) as memory:
        for number in range(60):
            memory.of(f"user-{number:02}", "tutor" if number % 2 else "default").add("I like herons.", "Noted.")
        memory.of("user-59", "tutor").add_document(TALE, title="The tale", source="tale.md")
        memory.space("team").add("The deploy is on Friday.")
        memory.grant("team", user="bob", write=True)
        yield memory


@pytest.fixture
def many(tmp_path: Path) -> Iterator[Server]:
    """A server over these."""
    with peopled(tmp_path) as memory, running(memory) as url:
        yield Server(url=url, memory=memory)


def opened(tab: Tab, server: Server, path: str, **options: object) -> Page:
    """A tab on a page of the server, whose address is not to name the demo's owner."""
    page = tab(server, **options)
    page.goto(server.url + path)
    return page


def test_owners_are_found_while_one_types_and_ordered_by_tabs(many: Server, tab: Tab) -> None:
    page = opened(tab, many, "/")
    rows = page.locator("[data-test=owner-row]")
    expect(rows).to_have_count(50)
    page.locator("[data-test=next]").click()
    expect(rows).to_have_count(10)
    page.goto(many.url + "/?order=name")
    expect(rows.first).to_contain_text("user-00")
    page.locator("[data-test=find-owner]").press_sequentially("user-1")
    expect(rows).to_have_count(10)
    expect(rows.first).to_contain_text("user-10")
    page.wait_for_url("**q=user-1**")
    page.locator(".tabs a", has_text="Last active").click()
    expect(rows.first).to_contain_text("user-19")
    page.locator("[data-test=find-owner]").fill("zoe")
    page.locator("[data-test=none-found] a").click()
    page.wait_for_url("**/overview?user=zoe&agent=default")


def test_the_headers_list_is_searched_from_every_page(many: Server, tab: Tab) -> None:
    page = opened(tab, many, "/pages?user=user-07&agent=tutor")
    page.locator("#owner summary").click()
    expect(page.locator("#owner-find")).to_be_focused()
    links = page.locator("#owner-list a[href^='/overview']")
    expect(links).to_have_count(20)
    page.keyboard.type("r-07")
    expect(links).to_have_count(1)
    expect(links.first).to_have_attribute("aria-current", "true")
    assert violations(page) == []
    page.locator("#owner-find").fill("12")
    expect(links.first).to_contain_text("user-12")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/overview?user=user-12**")
    page.locator("#owner summary").click()
    page.keyboard.press("Escape")
    expect(page.locator("#owner summary")).to_be_focused()


def test_without_scripts_owners_are_found_too(many: Server, tab: Tab) -> None:
    page = opened(tab, many, "/pages?user=user-07&agent=tutor", java_script_enabled=False)
    page.locator("#owner summary").click()
    page.locator("#owner-find").fill("user-3")
    page.locator("#owner-find").press("Enter")
    expect(page.locator("[data-test=owner-row]")).to_have_count(10)
    page.locator("[data-test=find-owner]").fill("user-31")
    page.locator("[data-test=find-owner]").press("Enter")
    expect(page.locator("[data-test=owner-row]")).to_have_count(1)


@pytest.mark.parametrize("width", [1280, 360])
def test_these_pages_are_for_everybody(many: Server, tab: Tab, width: int) -> None:
    page = tab(many, viewport={"width": width, "height": 800})
    mine = many.memory.of("user-59", "tutor")
    of = "user=user-59&agent=tutor"
    (document,) = mine.documents()
    for path in (
        "/",
        "/?order=trouble&q=1",
        "/?q=nobody",
        f"/documents?{of}",
        f"/documents/{document.id}?{of}",
        f"/forget?kind=document&id={document.id}&{of}",
        "/documents?user=user-01&agent=tutor",
        "/spaces",
        f"/pages?user={NO_USER}&agent=team",
    ):
        page.goto(many.url + path)
        for summary in page.locator("main details > summary").all():
            summary.click()
        assert violations(page) == [], path
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
