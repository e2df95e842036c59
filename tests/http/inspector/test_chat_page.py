"""The chat of the inspector over HTTP: replies of a scripted model, what was recalled, what was learnt, failures."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from read_page import OWNER, holding, visiting
from serving import running

from embermem import Memory, OwnerMemory
from embermem.core.config import load
from embermem.llms import make_model
from embermem.testing.model_server import ModelServer
from scripted import Clock, Opener

REPLY = "By the lake, you said."


@pytest.fixture
def model() -> Iterator[ModelServer]:
    """A scripted model."""
    with ModelServer(answer=REPLY) as server:
        yield server


@pytest.fixture
def memory(request: pytest.FixtureRequest, opened: Opener) -> Memory:
    """A memory; with the model, where the test asks for it."""
    if "model" not in request.fixturenames:
        return opened()
    return opened(model="scripted", model_url=request.getfixturevalue("model").url)


@pytest.fixture
def alice(memory: Memory) -> OwnerMemory:
    mine = memory.of("alice")
    mine.add("I saw the heron by the lake.", "How lovely.", thread="walks", at="2026-04-01T10:00:00+00:00")
    return mine


def get(browser: httpx2.Client, path: str = "/chat", **query: Any) -> str:
    answer = browser.get(path, params={**OWNER, **query})
    assert answer.status_code == 200, answer.text
    return answer.text


def streamed(browser: httpx2.Client, **fields: str) -> list[dict[str, Any]]:
    """The lines of a streamed answer."""
    answer = browser.post("/chat/stream", params=OWNER, data=fields)
    assert answer.status_code == 200, answer.text
    return [json.loads(line) for line in answer.text.splitlines()]


def said(mine: OwnerMemory, thread: str = "main") -> list[tuple[str, str]]:
    return [(page.query, page.response) for page in mine.pages(thread=thread)]


# ------------------------------------------------------------------------------------------------------ with a model


def test_a_form_shows_the_whole_reply_and_what_was_recalled_for_it(
    model: ModelServer, alice: OwnerMemory, browser: httpx2.Client
) -> None:
    answer = browser.post("/chat", params=OWNER, data={"text": "Where did I see the heron?", "thread": "evening"})
    assert answer.status_code == 200
    assert said(alice, "evening") == [("Where did I see the heron?", REPLY)]
    assert answer.url.params["answer"] == alice.pages(thread="evening")[0].id
    beside = answer.text.partition('id="beside"')[2]
    assert "I saw the heron by the lake." in beside
    assert re.search(r"<b>\d+</b> tokens", beside)
    assert "confidence" in beside
    assert f'href="/pages/{alice.pages(thread="walks")[0].id}?' in beside
    assert streamed(browser, text="  ")[-1]["stored"] == "Nothing was stored."
    assert browser.post("/chat", params=OWNER, data={"text": " "}).status_code == 422
    assert said(alice) == []


def test_a_stream_tells_the_page_then_the_pieces_then_the_end_and_hostile_replies_are_text(
    model: ModelServer, alice: OwnerMemory, browser: httpx2.Client
) -> None:
    lines = streamed(browser, text="Where did I see the heron?")
    page = alice.pages(thread="main")[0]
    assert lines[0]["page"] == page.id
    assert lines[0]["at"].endswith(f"answer={page.id}")
    assert "".join(line.get("piece", "") for line in lines) == REPLY
    assert len(lines) > 3
    assert lines[-1] == {"done": page.id}
    assert said(alice) == [("Where did I see the heron?", REPLY)]
    streamed(browser, text="Where was I?", style="as a pirate", budget="60")
    assert "as a pirate" in json.dumps(model.requests[-1])
    assert browser.post("/chat/stream", params=OWNER, data={"text": "x", "budget": "many"}).status_code == 422

    hostile = '<script>alert(1)</script>\n[x](javascript:alert(1))\n{"done": 1}\n\u202eback'
    model.reply_with(hostile)
    lines = streamed(browser, text="<img src=x onerror=alert(2)>")
    assert "".join(line.get("piece", "") for line in lines) == hostile
    text = get(browser)
    assert "<script>alert" not in text
    assert "<img src=x" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text


def test_what_was_recalled_for_an_earlier_answer_is_shown_or_computed_again_unless_it_is_forgotten(
    model: ModelServer, alice: OwnerMemory, browser: httpx2.Client, clock: Clock
) -> None:
    for text in ("Where did I see the heron?", "And what is the capital of France?"):
        streamed(browser, text=text, thread="asked")
    first, second = alice.pages(thread="asked")
    assert "I saw the heron by the lake." in get(browser, answer=first.id).partition('id="beside"')[2]
    assert 'data-test="recalled-numbers"' in get(browser, answer=second.id)
    clock.go(60)
    alice.chat("Where did I see the heron?")
    clock.go(60)
    alice.add("The heron flew to Spain.", "Far away.", thread="walks")
    answered = alice.pages(thread="main")[0]
    assert "no longer remembers" in get(browser)
    again = get(browser, "/chat/again", answer=answered.id)
    assert 'data-test="computed-again"' in again
    assert "I saw the heron by the lake." in again.partition('id="beside"')[2]
    assert "Spain" not in again.partition('id="beside"')[2]
    streamed(browser, text="Where did I see the bird?", thread="birds")
    assert "heron" in get(browser, thread="birds")
    for one in alice.pages():
        if one.thread != "birds":
            alice.forget(page=one.id)
    page = get(browser, thread="birds")
    assert "heron" not in page
    assert "forgotten since" in page


def test_a_model_that_fails_is_told_with_what_was_stored(
    model: ModelServer, alice: OwnerMemory, browser: httpx2.Client
) -> None:
    for fault in ("http_500", "http_401"):
        model.fail_always(fault)
        last = streamed(browser, text="Hello?", thread=f"stream {fault}")[-1]
        assert last["keeps"]
        assert last["stored"].startswith("Your message is stored, the reply is not.")
        assert last["failed"]
        answer = browser.post("/chat", params=OWNER, data={"text": "Hello?", "thread": f"form {fault}"})
        assert answer.status_code in (502, 503)
        assert "Your message is stored, the reply is not." in answer.text
        for thread in (f"stream {fault}", f"form {fault}"):
            assert said(alice, thread) == [("Hello?", "")]
            assert "no reply is stored" in get(browser, thread=thread)


def test_a_limit_that_is_reached_says_when_it_ends_and_a_model_given_as_an_object_is_named(
    model: ModelServer, opened: Opener
) -> None:
    memory = opened("limited.db", model="scripted", model_url=model.url, calls_per_day=1)
    with running(memory) as url, visiting(url) as browser:
        streamed(browser, text="One.")
        last = streamed(browser, text="Two.")[-1]
    assert "asked again from 2026-05-03 00:00" in last["failed"]
    assert last["keeps"]

    made = make_model(load(model="scripted", model_url=model.url))
    memory = opened(model=made)
    with running(memory) as url:
        memory.of("alice").add("I like figs.")
        with visiting(url) as browser:
            page = get(browser)
        assert memory.model_name == "scripted"
        assert "Replies by <bdi>scripted</bdi>" in page
        assert 'data-test="no-model"' not in page


def test_a_stream_that_is_left_stores_the_message_alone_and_frees_the_thread(
    model: ModelServer, alice: OwnerMemory, browser: httpx2.Client
) -> None:
    model.fail_next("trickle", seconds=0.1)
    with browser.stream("POST", "/chat/stream", params=OWNER, data={"text": "Tell me."}) as answer:
        pieces = answer.iter_lines()
        next(pieces)
        next(pieces)
    for _ in range(100):
        lines = streamed(browser, text="Again?")
        if "done" in lines[-1]:
            break
        assert "is being written" in lines[-1]["failed"]
        threading.Event().wait(0.05)
    assert said(alice) == [("Tell me.\nAgain?", REPLY)]


def test_two_tabs_do_not_answer_one_thread_at_once_and_another_site_may_not_speak(
    model: ModelServer, alice: OwnerMemory, browser: httpx2.Client
) -> None:
    headers = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
    for path in ("/chat", "/chat/stream", "/chat/answer"):
        answer = browser.post(path, params=OWNER, data={"text": "Hello"}, headers=headers)
        assert answer.status_code == 403, path
    assert model.calls == 0
    model.fail_next("trickle", seconds=0.1)
    with browser.stream("POST", "/chat/stream", params=OWNER, data={"text": "One."}) as first:
        lines = first.iter_lines()
        next(lines)
        refused = streamed(browser, text="Two.")[-1]
        elsewhere = streamed(browser, text="Three.", thread="other")[-1]
        rest = [json.loads(line) for line in lines]
    assert "is being written" in refused["failed"]
    assert refused["stored"] == "Nothing was stored."
    assert "done" in elsewhere
    assert "done" in rest[-1]
    assert said(alice) == [("One.", REPLY)]


def test_what_was_learnt_fills_in_when_the_exchange_was_read(opened: Opener) -> None:
    memory = opened("read.db")
    alice = memory.of("alice")
    with running(memory) as url, visiting(url) as http:
        http.post("/chat/answer", params=OWNER, data={"text": "I have a rabbit named Biscuit.", "reply": "Sweet."})
        before = get(http)
        alice.settle()
        for number in range(4):
            alice.add(f"Walk {number}.", "Yes.", thread="walks")
        alice.settle()
        after = get(http)
    assert 'data-test="not-analysed"' in before
    assert 'data-test="analysed"' in after
    assert "Biscuit" in after.partition('data-test="learnt"')[2]
    assert re.search(r"/audit/\d+/sources/\d+", after)


# --------------------------------------------------------------------------------------------------- without a model


def test_without_a_model_the_page_shows_what_would_be_recalled_and_a_person_answers(
    alice: OwnerMemory, browser: httpx2.Client
) -> None:
    page = get(browser, text="Where did I see the heron?")
    assert "I saw the heron by the lake." in page.partition('id="beside"')[2]
    assert 'data-test="recalled-text"' in page
    assert "EMBERMEM_MODEL=" in page
    assert 'data-test="send"' not in page
    assert alice.stats().utterances == 2
    last = streamed(browser, text="Hello?")[-1]
    assert "EMBERMEM_MODEL" in last["failed"]
    assert last["stored"] == "Nothing was stored."
    fields = {"text": "Where was it?", "reply": "By the lake.", "thread": "main"}
    assert browser.post("/chat/answer", params=OWNER, data=fields).status_code == 200
    assert said(alice) == [("Where was it?", "By the lake.")]
    assert browser.post("/chat/answer", params=OWNER, data={**fields, "reply": " "}).status_code == 422
    alice.add_messages([{"role": "user", "content": "And when?"}], thread="main")
    assert 'data-test="answer-open"' in get(browser)
    browser.post("/chat/answer", params=OWNER, data={"reply": "In April.", "thread": "main"})
    assert said(alice)[-1] == ("And when?", "In April.")
    for number in range(25):
        alice.add(f"Step {number}.", "Yes.", thread="climb")
    page = get(browser, thread="climb")
    assert page.count('data-test="exchange"') == 20
    older = re.search(r"before=(\d+)[^\"]*\" data-test=\"earlier\"", page)
    assert older is not None
    rest = get(browser, thread="climb", before=int(older[1]))
    assert rest.count('data-test="exchange"') == 5
    assert "Step 0." in rest
    assert re.findall(r"<option value=\"(\w+)\"", page) == ["climb", "main", "walks"]
    assert "Nothing was said in this thread yet." in get(browser, thread="none")


def test_a_key_that_may_only_read_reads_the_thread(model: ModelServer, alice: OwnerMemory, memory: Memory) -> None:
    with holding(memory, "alice", read_only=True) as browser:
        page = get(browser, thread="walks")
        assert "I saw the heron by the lake." in page
        assert 'data-test="send"' not in page
        assert 'data-test="you"' not in page
        assert "What would be recalled" in get(browser, thread="walks", text="heron")
        for path in ("/chat", "/chat/stream", "/chat/answer"):
            fields = {"text": "Hello", "reply": "Hello"}
            assert browser.post(path, params=OWNER, data=fields).status_code == 403, path
    assert model.calls == 0
