"""Chat in a real browser: the reply as it comes, stopping it, failures, two tabs, texts that would be markup."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from demo_pages import mei_of
from playwright.sync_api import expect
from serving import Server, running

from embermem import Memory
from embermem.testing.model_server import ModelServer

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.proof
Tab = Callable[..., "Page"]
REPLY = "In Grenoble, since May."


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with ModelServer(answer=REPLY) as server:
        yield server


@pytest.fixture
def talking(demo_copy: Path, model: ModelServer) -> Iterator[Server]:
    """A server over the demo's memory with the scripted model."""
    asked: dict[str, Any] = {"model": "scripted", "model_url": model.url, "model_retries": 0}
    with (
        Memory(demo_copy / "demo.db", embedder="hashed", background=False, **asked) as memory,
        running(memory) as url,
    ):
        yield Server(url=url, memory=memory)


def send(page: Page, text: str) -> None:
    page.locator("[data-test=text]").fill(text)
    page.locator("[data-test=text]").press("Enter")


def test_stop_ends_the_reply_and_says_what_is_stored(talking: Server, model: ModelServer, tab: Tab) -> None:
    model.fail_next("trickle", seconds=0.3)
    page = tab(talking, "/chat")
    send(page, "Tell me all.")
    expect(page.locator("[data-now=reply]")).to_contain_text("In")
    page.locator("[data-test=stop]").click()
    expect(page.locator("[data-test=failed]")).to_contain_text("Your message is stored, the reply is not.")
    expect(page.locator("[data-test=unanswered]")).to_be_visible()
    assert [(one.query, one.response) for one in mei_of(talking.memory).pages(thread="main")] == [("Tell me all.", "")]


def test_a_reply_that_breaks_off_is_told(talking: Server, model: ModelServer, tab: Tab) -> None:
    model.fail_next("disconnect", times=4)
    page = tab(talking, "/chat")
    send(page, "Hello?")
    expect(page.locator("[data-test=failed]")).to_contain_text("the reply is not")
    expect(page.locator("[data-test=unanswered]")).to_be_visible()
    model.recover()
    send(page, "Once more?")
    expect(page.locator("[data-test=exchange]")).to_contain_text([REPLY])
    expect(page.locator("[data-test=failed]")).to_be_hidden()


def test_what_is_learnt_comes_by_itself(own: Server, tab: Tab) -> None:
    page = tab(own, "/chat")
    expect(page.locator("#live")).to_have_attribute("data-state", "on")
    page.locator("[data-test=you] summary").click()
    page.locator("#you-text").fill("I have a parrot named Kiwi.")
    page.locator("#you-reply").fill("What a name.")
    page.locator("[data-test=you] form button").click()
    expect(page.locator("[data-test=not-analysed]")).to_be_visible()
    for number in range(8):
        mei_of(own.memory).add(f"Walk {number}.", "Yes.", thread="walks")
    mei_of(own.memory).settle()
    expect(page.locator("[data-test=learnt]")).to_contain_text("Kiwi")
    expect(page.locator("[data-test=analysed]")).to_be_visible()


def test_hostile_text_of_a_model_stays_text(talking: Server, model: ModelServer, tab: Tab) -> None:
    hostile = "<img src=x onerror=alert(1)><script>alert(2)</script> **bold** [x](javascript:alert(3))"
    model.reply_with(hostile)
    page = tab(talking, "/chat")
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    send(page, "<b>hello</b>")
    expect(page.locator("[data-test=exchange]")).to_contain_text([hostile])
    assert page.locator("#talk img, #talk script, #talk b:has-text('hello'), #now img").count() == 0


def test_without_scripts_a_form_does_all_of_it(talking: Server, tab: Tab) -> None:
    page = tab(talking, "/chat", java_script_enabled=False)
    page.locator("[data-test=text]").fill("Where do I live?")
    page.locator("[data-test=recall]").click()
    assert page.locator("[data-test=recalled-line]").count() > 0
    assert page.locator("[data-test=text]").input_value() == "Where do I live?"
    page.locator("[data-test=send]").click()
    assert REPLY in page.locator("[data-test=exchange]").inner_text()
    page.locator("[data-test=new-thread]").fill("another")
    page.locator("[data-test=new-thread] + button").click()
    assert page.locator("[data-test=empty]").is_visible()


def test_threads_and_earlier_answers_are_chosen(talking: Server, tab: Tab) -> None:
    page = tab(talking, "/chat")
    for text in ("Where do I live?", "Who is Lian?"):
        send(page, text)
        expect(page.locator("[data-test=exchange]").last).to_contain_text(text)
        expect(page.locator("#now")).to_be_hidden()
    page.locator("[data-test=beside-this]").first.click()
    expect(page.locator("[data-test=exchange]").first).to_have_attribute("aria-current", "true")
    thread = mei_of(talking.memory).pages(limit=30)[0].thread
    page.locator("[data-test=thread]").select_option(thread)
    page.wait_for_url(lambda url: "thread=main" not in url)
    page.locator("[data-test=again] summary").click()
    expect(page.locator("[data-test=computed-again]")).to_be_visible()
