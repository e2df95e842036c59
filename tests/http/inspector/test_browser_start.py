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
STANDARDS = {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}
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


def test_documents_are_added_read_and_forgotten(many: Server, tab: Tab, tmp_path: Path) -> None:
    page = opened(tab, many, "/documents?user=user-59&agent=tutor")
    page.locator("[data-test=add-document] summary").click()
    page.locator("[data-test=text]").fill("# A note\n\nThe heron came back.")
    page.locator("[data-test=add]").click()
    expect(page.locator("[data-test=added]")).to_contain_text("1 new passage")
    expect(page.locator("h1")).to_have_text("A note")
    page.locator(".crumb a").click()
    page.locator("[data-test=add-document] summary").click()
    file = tmp_path / "garden.md"
    file.write_text("# The garden\n\nIt has a pond.")
    page.locator("[data-test=file]").set_input_files(file)
    page.locator("[data-test=add]").click()
    expect(page.locator("h1")).to_have_text("The garden")
    page.locator(".crumb a").click()
    page.locator("[data-test=find-document]").press_sequentially("TALE")
    expect(page.locator("[data-test=document]")).to_have_count(1)
    page.locator("[data-test=document] a").click()
    expect(page.locator("[data-test=passage]")).to_have_count(50)
    page.locator("[data-test=following]").click()
    expect(page.locator("[data-test=passage]")).to_have_count(30)
    page.locator("[data-test=forget]").click()
    expect(page.locator("#dialog [data-test=preview]")).to_contain_text("80")
    page.locator("[data-test=forget-now]").click()
    expect(page.locator("[data-test=receipt]")).to_contain_text("80 passages")
    assert len(many.memory.of("user-59", "tutor").documents()) == 2


def test_a_space_is_granted_revoked_and_looked_at(many: Server, tab: Tab) -> None:
    page = opened(tab, many, "/spaces")
    page.locator("[data-test=new-space] summary").click()
    form = page.locator("[data-test=new-space] form")
    form.locator("[name=space]").fill("handbook")
    form.locator("[name=everybody]").check()
    form.locator("button").click()
    expect(page.locator("[data-test=granted]")).to_contain_text("handbook")
    space = page.locator("#space-team")
    space.locator("[data-test=revoke]").click()
    expect(page.locator("[data-test=ended]")).to_contain_text("team")
    space.locator("summary", has_text="1 ended").click()
    space.locator("[data-test=past-row] button").click()
    expect(space.locator("[data-test=grant-row]")).to_contain_text("bob")
    space.locator("[data-test=look]").click()
    expect(page.locator("#owner summary")).to_contain_text("team")
    page.locator(".side a[data-go=p]").click()
    expect(page.locator("main")).to_contain_text("The deploy is on Friday.")
    assert {(one.user, one.write) for one in many.memory.grants("team")} == {("bob", True)}


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
