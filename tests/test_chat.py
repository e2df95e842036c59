"""Chat: what the model is shown, and what is stored when it answers, fails, or is broken off."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from embermem import Context, Memory, OwnerMemory, chat
from embermem.core import injected_blocks
from embermem.core.errors import InputError, ModelError, ModelMissing, ModelReplyError
from embermem.core.types import Page, PageId, Persona, ProfileField, Role, ThreadId, Utterance, UtteranceId
from embermem.testing.model_server import ModelServer
from scripted import NOW, Opener

KEY = b"k" * 32


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A model that says hello."""
    with ModelServer() as one:
        yield one


@pytest.fixture
def memory(opened: Opener, server: ModelServer) -> Memory:
    """An empty memory with a model, which is asked once and not again."""
    return opened(model="scripted", model_url=server.url, model_retries=0, short_term_pages=7)


def said(owner: OwnerMemory) -> list[list[str]]:
    """The texts of each page."""
    return [[u.text for u in page.utterances] for page in owner.pages()]


def shown(server: ModelServer, number: int = -1) -> list[tuple[str, str]]:
    """The messages of a request: role and text."""
    return [(m["role"], m["content"]) for m in server.requests[number]["messages"]]


# ------------------------------------------------------------------------------------------------- a whole reply


def test_query_and_reply_are_one_page_and_the_model_is_shown_other_conversations_and_no_word_twice(
    alice: OwnerMemory, server: ModelServer, memory: Memory
) -> None:
    server.reply_with("Good evening, Alice.")
    reply = alice.chat("Good evening.", thread="s1")
    (page,) = alice.pages()
    assert (reply.text, reply.page_id) == ("Good evening, Alice.", page.id)
    assert [(u.role, u.speaker, u.text, u.thread) for u in page.utterances] == [
        (Role.USER, "alice", "Good evening.", "s1"),
        (Role.ASSISTANT, "assistant", "Good evening, Alice.", "s1"),
    ]
    assert server.calls == 1

    alice = memory.of("alice", "2")
    alice.add("My heron is called Bartholomew.", "A fine name.", thread="long ago")
    reply = alice.chat("What is my heron called?", thread="today")
    (role, first), (asking, last) = shown(server)
    assert (role, asking) == ("system", "user")
    assert last.endswith(">\n\nWhat is my heron called?")
    assert "My heron is called Bartholomew." in last
    assert last.count("What is my heron called?") == 1
    assert "heron" not in first
    assert "Bartholomew" in reply.context.text

    alice = memory.of("alice", "3")
    server.reply_with("Take the train.")
    alice.chat("How do I get to Lyon?")
    alice.add("My sister lives in Lyon.", "Oh.", thread="other")
    alice.chat("How long does the train to Lyon take?")
    _, *turns, (_, last) = shown(server)
    assert turns == [("user", "How do I get to Lyon?"), ("assistant", "Take the train.")]
    assert last.endswith(">\n\nHow long does the train to Lyon take?")
    assert "My sister lives in Lyon." in last
    assert "How do I get to Lyon?" not in last

    alice = memory.of("alice", "4")
    stream = alice.chat("What is my boat called?", stream=True)
    alice.add("My boat is called Petrel.", thread="other")
    stream.whole()
    assert "Petrel" not in str(server.requests[-1])


def test_stable_parts_come_first_and_the_memory_stands_between_markers(alice: OwnerMemory, server: ModelServer) -> None:
    alice.set_agent_profile("a patient tutor of French")
    alice.add("I live in Lyon.", "Nice.", thread="old")
    alice.chat("Where do I live?", system="You teach.", style="short and warm", at="2026-05-02T10:00:00+02:00")
    alice.chat("And how long?", system="You teach.", style="short and warm", at="2026-05-03T10:00:00+02:00")
    before, after = (shown(server, number) for number in (-2, -1))
    assert before[0] == after[0]
    assert after[1] == ("user", "Where do I live?")
    told = "".join(text for _, text in before)
    now = "Now: 2026-05-02 (Sat) 08:00"
    order = ["You teach.", "a patient tutor of French", "short and warm", now, f"<{injected_blocks.MARK}"]
    order += ["I live in Lyon.", f"</{injected_blocks.MARK}", "Where do I live?"]
    places = [told.index(part) for part in order]
    assert places == sorted(places)
    assert before[-1][1].startswith(now)


def test_segments_that_gave_a_hit_are_visited_once_the_reply_is_kept(opened: Opener, server: ModelServer) -> None:
    with opened("garden.db") as before:
        for number in range(12):
            before.of("bob").add(f"I planted tulip number {number} in the garden.", "Lovely.", thread="garden")
        before.of("bob").settle()
    bob = opened("garden.db", model="scripted", model_url=server.url, model_retries=0).of("bob")
    server.fail_next("http_500")
    with pytest.raises(ModelError):
        bob.chat("Which tulips did I plant?", thread="new")
    assert [s.visits for s in bob.segments() if s.visits] == []
    reply = bob.chat("Which tulips did I plant?", thread="new")
    held = {hit.segment_id for hit in reply.context.packed} - {None}
    assert held
    assert {s.id for s in bob.segments() if s.visits} == held


def test_a_reply_that_repeats_the_memory_and_a_query_that_brings_it_are_kept_without_it(
    alice: OwnerMemory, server: ModelServer, memory: Memory
) -> None:
    alice.add("I live in Lyon.", "Nice.", thread="old")

    def echo(request: dict[str, Any]) -> str:
        asked = str(request["messages"][-1]["content"])
        return asked[asked.index(f"<{injected_blocks.MARK}") :].removesuffix("Where do I live?") + "In Lyon."

    server.reply_with(echo)
    assert alice.chat("Where do I live?").text == "In Lyon."
    assert said(alice)[-1] == ["Where do I live?", "In Lyon."]

    alice = memory.of("alice", "2")
    alice.chat("Hello." + injected_blocks.wrap("#1 alice: secret", memory.nonce_key()))
    ((_, first), (role, asked)) = shown(server)
    assert (role, asked.endswith(">\n\nHello.")) == ("user", True)
    assert "secret" not in first + asked


# ------------------------------------------------------------------------------------------------- what goes wrong


def test_without_a_model_or_with_wrong_input_the_error_comes_before_anything_is_stored(
    opened: Opener, alice: OwnerMemory, server: ModelServer
) -> None:
    bob = opened("plain.db").of("bob")
    with pytest.raises(ModelMissing, match="EMBERMEM_MODEL"):
        bob.chat("Hello.")
    assert bob.pages() == ()

    for wrong in ({"query": " \n"}, {"query": "a", "budget": 0}, {"query": "a", "style": "\x00"}):
        with pytest.raises(InputError):
            alice.chat(**wrong)
        assert (alice.pages(), server.calls) == ((), 0)


def test_a_model_that_fails_or_a_limit_that_is_reached_leaves_the_page_open_for_the_next_message(
    opened: Opener, server: ModelServer, memory: Memory
) -> None:
    from embermem.core.errors import BudgetSpent

    bob = opened("b.db", model="scripted", model_url=server.url, calls_per_day=1).of("bob")
    bob.chat("One.")
    with pytest.raises(BudgetSpent):
        bob.chat("Two.")
    assert (said(bob), server.calls) == ([["One.", "Hello."], ["Two."]], 1)

    for kind in ("http_500", "disconnect", "empty", "null", "garbage", "http_401", "no_choices"):
        alice = memory.of("alice", kind)
        server.fail_next(kind)
        with pytest.raises(ModelError):
            alice.chat("Are you there?")
        assert said(alice) == [["Are you there?"]]
        server.reply_with("Yes.")
        alice.chat("Hello?")
        assert said(alice) == [["Are you there?", "Hello?", "Yes."]]
        ((role, asked),) = shown(server)[1:]
        assert (role, asked.endswith(">\n\nAre you there?\nHello?")) == ("user", True)


# ------------------------------------------------------------------------------------------------------- streaming


def test_a_stream_gives_the_reply_in_pieces_and_if_it_breaks_off_keeps_the_question_only(
    alice: OwnerMemory, server: ModelServer, memory: Memory
) -> None:
    server.reply_with("One two three four.")
    stream = alice.chat("Count.", stream=True)
    assert (said(alice), stream.reply) == ([["Count."]], None)
    pieces = list(stream)
    assert "".join(pieces) == "One two three four."
    assert stream.reply is not None
    assert stream.reply == chat.ChatReply(text="One two three four.", context=stream.context, page_id=stream.page_id)
    assert said(alice) == [["Count.", "One two three four."]]
    stream.close()
    assert said(alice) == [["Count.", "One two three four."]]

    alice = memory.of("alice", "2")
    server.reply_with("word " * 200)
    stream = alice.chat("Count.", stream=True)
    next(stream)
    stream.close()
    assert (list(stream), stream.reply, said(alice)) == ([], None, [["Count."]])

    alice = memory.of("alice", "3")
    server.reply_with("word " * 200)
    server.fail_next("disconnect")
    with pytest.raises(ModelError):
        list(alice.chat("Count.", stream=True))
    assert said(alice) == [["Count."]]


# ------------------------------------------------------------------------------------------------------ pure parts


def page(no: int, *texts: tuple[Role, str], thread: str = "main", first_seq: int = 1) -> Page:
    utterances = tuple(
        Utterance(
            id=UtteranceId(f"u{first_seq + place}"),
            seq=first_seq + place,
            page_id=PageId(f"p{no}"),
            thread=ThreadId(thread),
            role=role,
            origin=role.origin,
            speaker=role.value,
            text=text,
            said_at=NOW,
            recorded_at=NOW,
        )
        for place, (role, text) in enumerate(texts)
    )
    return Page(id=PageId(f"p{no}"), no=no, thread=ThreadId(thread), utterances=utterances)


def context(text: str) -> Context:
    return Context(
        text=text,
        hits=(),
        packed=(),
        facts=(),
        persona=Persona(),
        tokens=0,
        counter="approx",
        confidence=0.0,
        partial=False,
        query="",
        preset="default",
    )


lengths = st.lists(st.tuples(st.sampled_from(list(Role)), st.integers(1, 30)), max_size=12)


@given(lengths, st.integers(0, 60))
def test_turns_are_the_newest_that_fit_in_order_and_begin_with_the_user(
    made: list[tuple[Role, int]], limit: int
) -> None:
    pages = [page(1, *((role, "word " * length) for role, length in made))]
    kept = chat.turns(pages, ThreadId("main"), len(made) + 1, limit, "words")
    said_by_two = [u for u in pages[0].utterances if u.role in (Role.USER, Role.ASSISTANT)]
    assert kept == (said_by_two[-len(kept) :] if kept else [])
    assert sum(len(u.text.split()) for u in kept) <= limit
    assert not kept or kept[0].role is Role.USER


def test_turns_are_of_the_thread_and_move_on_by_a_step_and_never_show_less_than_short_term_memory() -> None:
    here = page(1, (Role.USER, "one"), (Role.ASSISTANT, "two"), (Role.USER, "three"))
    there = page(2, (Role.USER, "elsewhere"), thread="other", first_seq=4)
    assert [u.text for u in chat.turns([here, there], ThreadId("main"), 3, 100, "approx")] == ["one", "two"]

    begins = []
    for newest in range(1, 40):
        pages = [exchanged(no) for no in range(max(1, newest - 9), newest + 1)]
        kept = numbers(chat.turns(pages, ThreadId("main"), 2 * newest + 2, 1000, "words", step=4))
        assert kept == list(range(kept[0], newest + 1))
        assert min(7, newest) <= len(kept) <= 10
        begins.append(kept[0])
    assert begins == sorted(begins)
    assert len(set(begins)) == 9  # 1, 5, 9 … 33

    for forgotten in ({5}, {4, 5, 6, 9}):
        left = [no for no in range(1, 40) if no not in forgotten]
        seen = set()
        for newest in left[10:]:
            pages = [exchanged(no) for no in left if no <= newest][-10:]
            kept = numbers(chat.turns(pages, ThreadId("main"), 2 * newest + 2, 1000, "words", step=4))
            assert kept == [page.no for page in pages if page.no >= kept[0]]
            assert 7 <= len(kept) <= 10
            seen.add(kept[0])
        assert len(seen) <= 9

    begins = []
    for newest in range(10, 40):
        pages = [exchanged(no) for no in range(newest - 9, newest + 1)]
        kept = numbers(chat.turns(pages, ThreadId("main"), 2 * newest + 2, 20, "words", step=4))
        assert len(kept) in (4, 5)  # five of four words fit
        begins.append(kept[0])
    assert len(set(begins)) == 15

    pages = [page(no, (Role.USER, "a " * 5), (Role.ASSISTANT, "b " * 9), first_seq=2 * no) for no in range(1, 9)]
    for newest in range(1, 9):
        shown_last = chat.turns(pages[:newest], ThreadId("main"), 2 * newest + 2, 14, "words", step=4)
        assert numbers(shown_last) == [newest]


def numbers(kept: list[Utterance]) -> list[int]:
    """The numbers of the pages of which something is shown."""
    return list(dict.fromkeys(int(u.page_id.removeprefix("p")) for u in kept))


def exchanged(no: int) -> Page:
    return page(no, (Role.USER, f"question {no}"), (Role.ASSISTANT, f"answer {no}"), first_seq=2 * no)


def test_most_prompts_of_a_long_chat_begin_with_the_one_before_and_the_memory_tells_what_they_leave_behind(
    alice: OwnerMemory, server: ModelServer, memory: Memory
) -> None:
    for number in range(20):
        server.reply_with(f"I see, that was letter {number}.")
        alice.chat(f"I wrote letter {number} to my aunt.")
    prompts = [shown(server, number) for number in range(20)]
    kept = [after[: len(before) - 1] == before[:-1] for before, after in pairwise(prompts)]
    assert kept.count(False) == 3  # at the 11th, the 15th and the 19th turn
    for number, prompt in enumerate(prompts):
        turns = [text for role, text in prompt if role == "user"]
        assert turns[-7:-1] == [f"I wrote letter {no} to my aunt." for no in range(max(0, number - 6), number)]

    alice = memory.of("alice", "2")
    alice.chat("My boat is called Petrel.")
    for number in range(14):
        alice.chat(f"What is the name of my boat, for the {number}th time?")
        *before, (_, last) = shown(server)
        told = "My boat is called Petrel." in last
        assert told != any("Petrel" in text for _, text in before)


def test_a_day_that_the_turns_hold_is_left_out_and_neighbours_of_one_role_are_one_message() -> None:
    told = page(1, (Role.USER, "one"), (Role.ASSISTANT, "two"), first_seq=11)
    asked = page(2, (Role.USER, "three"), first_seq=13).utterances[0]
    text = (
        "user: name Alice\n- lives in Lyon [#11]\n\n2026-05-01 Fri:\n#1 alice: #11 is my seat\n"
        "2026-05-02 Sat:\n#11 user: one\n#12 assistant: two\n2026-05-02 Sat:\n#7 alice: seven"
    )
    (*_, last) = chat.compose(
        asked, told.utterances, context(text), now=NOW, system=None, style=None, agent=(), key=KEY
    )
    assert (
        "user: name Alice\n- lives in Lyon [#11]\n\n2026-05-01 Fri:\n#1 alice: #11 is my seat\n"
        "2026-05-02 Sat:\n#7 alice: seven\n</ember-memory"
    ) in last.text

    told = page(1, (Role.USER, "a"), (Role.USER, "b"), (Role.ASSISTANT, "c"), (Role.ASSISTANT, "d"))
    asked = page(2, (Role.USER, "e"), first_seq=5).utterances[0]
    agent = [
        ProfileField(whose=_agent(), name="description", value="a tutor", sources=(), recorded_at=NOW),
    ]
    prompt = chat.compose(asked, told.utterances, context(""), now=NOW, system=None, style=None, agent=agent, key=KEY)
    assert [(m.role, m.text) for m in prompt[1:-1]] == [(Role.USER, "a\nb"), (Role.ASSISTANT, "c\nd")]
    assert (prompt[-1].role, prompt[-1].text.split("\n")[-1]) == (Role.USER, "e")
    assert "description a tutor" in prompt[0].text


def _agent() -> Any:
    from embermem import About

    return About.AGENT


def test_a_reply_is_cleaned_and_one_that_says_nothing_or_breaks_keeps_nothing() -> None:
    for raw in ("", " \n", "\x00", injected_blocks.wrap("#1 alice: Lyon", KEY)):
        with pytest.raises(ModelReplyError):
            chat.cleaned(raw, KEY)

    assert chat.cleaned(" a\x00b\ud800c ", KEY) == "ab?c"

    def pieces() -> Iterator[str]:
        yield "one"
        raise ModelReplyError("broken", "")

    kept: list[str] = []

    def keep(text: str) -> chat.ChatReply:
        kept.append(text)
        return chat.ChatReply(text=text, context=context(""), page_id=PageId("p1"))

    stream = chat.ChatStream(pieces(), keep, context=context(""), page_id=PageId("p1"))
    with pytest.raises(ModelReplyError):
        stream.whole()
    assert kept == []
    with pytest.raises(ModelReplyError, match="interrupted"):
        stream.whole()
