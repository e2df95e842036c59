"""MemGPT: the window fills, warns and flushes where it should; functions do what they say, and errors come back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from embermem import Scope, prompts
from embermem.core.errors import ModelError
from embermem.core.types import OwnerId
from embermem.testing.model_server import ModelServer
from embermem_bench.systems import OwnerSystem, SystemMemory
from embermem_bench.systems.memgpt.functions import page_of
from embermem_bench.systems.memgpt.kept import Entry, Line, Passage, Summary, Voice
from embermem_bench.systems.memgpt.storage import RecallStorage
from embermem_bench.systems.memgpt.system import MemGpt
from embermem_bench.systems.memgpt.window import WARNING, Usage, evicted, fitting
from memory_systems.conftest import SystemOpener
from memory_systems.memgpt_model import Model, call
from proofs import bounded
from scripted import Clock, page

AT = "2026-04-02T10:00:00+00:00"
DONE = {"function": "send_message"}
NUMBERS = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"


@pytest.fixture
def model(model_server: ModelServer) -> Model:
    return Model(model_server, DONE)


Opened = Callable[..., tuple[MemGpt, OwnerSystem]]


@pytest.fixture
def opened(system_opened: SystemOpener, model: Model) -> Opened:
    """MemGPT that asks `model`, with these options, and Alice's handle."""

    def open_one(file: str | None = None, *, scripted: bool = True, **options: Any) -> tuple[MemGpt, OwnerSystem]:
        memory: SystemMemory = system_opened(
            "memgpt", file, scripted=scripted, token_counter="words", model_retries=0, options=options
        )
        return cast("MemGpt", memory.system), memory.of("alice")

    return open_one


def lines_of(system: MemGpt, alice: OwnerSystem, label: str = "human") -> list[str]:
    return next(block.text for block in system.blocks(alice.owner) if block.label == label).splitlines()


# ------------------------------------------------------------------------------------------------------- the window

STATIC = len(prompts.load("memgpt_event", MemGpt.prompts).text.split()) + 1 + 2 + 26
"""Words of main context before anything was said: the system text, the queue's head; then a line above the blocks, one
for each of the two, and one of what is stored. A line break counts as one."""
SMALL = {"window_tokens": STATIC + 200, "warning_share": (STATIC + 110) / (STATIC + 200)}


def talk(alice: OwnerSystem, pages: int) -> None:
    """Each page costs 40: two lines of 19 words (`said`, the day, the speaker, 16 more) and a line break each."""
    for _ in range(pages):
        alice.add(NUMBERS, NUMBERS, at=AT)
        alice.settle()


def test_main_context_is_counted_as_it_is_sent_and_pressure_is_told_at_its_share_and_once(
    opened: Opened, model: Model
) -> None:
    system, alice = opened(**SMALL)
    talk(alice, 2)
    assert "system" not in model.shown[-1]
    talk(alice, 1)  # 120 of 110
    assert model.shown[-1].splitlines()[-1] == f"system {WARNING}"
    assert system.usage(alice.owner).queue == 120 + len(WARNING.split()) + 2 == 145
    talk(alice, 1)
    assert [entry.voice for entry in system.kept(alice.owner, Entry)].count(Voice.SYSTEM) == 1

    system, alice = opened("two.db", **SMALL)
    assert system.usage(alice.owner) == Usage(window=STATIC + 200, system=STATIC - 26, blocks=26, summary=0, queue=0)
    talk(alice, 2)
    usage = system.usage(alice.owner)
    assert (usage.queue, usage.total) == (80, STATIC + 80)

    system, alice = opened("three.db")
    talk(alice, 2)
    model.says(call("core_memory_append", label="human", content="counts to sixteen", heartbeat=True))
    talk(alice, 1)
    sent = sum(len(line.split()) + 1 for line in model.shown[-1].splitlines())
    assert system.usage(alice.owner).total == len(prompts.load("memgpt_event", MemGpt.prompts).text.split()) + 1 + sent


def test_a_full_window_is_flushed_by_half_into_a_recursive_summary(opened: Opened, model: Model) -> None:
    system, alice = opened(**SMALL)
    talk(alice, 2)
    model.says(call("archival_memory_insert", content="the heron is grey"))
    talk(alice, 1)
    assert system.usage(alice.owner).queue == 145 + 6 + 3  # the call and its result stand in the queue too
    talk(alice, 1)
    assert system.usage(alice.owner).queue == 194
    talk(alice, 1)  # 234 of 200; half of it are the first six messages: 120
    (summary,) = system.kept(alice.owner, Summary)
    assert (summary.text, summary.sources, summary.warned) == ("They spoke of birds", (1, 2, 3, 4, 5, 6), False)
    entries = system.kept(alice.owner, Entry)
    assert [entry.sources for entry in entries if entry.voice is Voice.SAID] == [(7,), (8,), (9,), (10,)]
    assert [entry.voice for entry in entries][:2] == [Voice.CALL, Voice.RESULT]  # the warning went with the pressure
    usage = system.usage(alice.owner)
    assert (usage.summary, usage.queue) == (11, 89)
    flush = next(shown for shown in model.shown if shown.startswith("summary so far: none"))
    assert flush.count("said ") == 6
    talk(alice, 3)  # 100 + 120 of 200
    (again,) = system.kept(alice.owner, Summary)
    assert again.id == summary.id
    assert again.sources[:8] == (1, 2, 3, 4, 5, 6, 7, 8)
    assert any(shown.startswith("summary so far: They spoke of birds") for shown in model.shown)


def test_what_was_evicted_is_found_and_a_message_larger_than_the_window_is_worked_on(
    opened: Opened, model: Model
) -> None:
    _, alice = opened(**SMALL)
    alice.add("The heron stood in the reeds.", at=AT)
    talk(alice, 6)
    model.says(call("conversation_search", query="heron"))
    context = alice.recall("Which bird?")
    assert context.hits[0].utterance.seq == 1
    assert "heron stood in the reeds" in context.text
    assert [hit.utterance.seq for hit in context.hits[1:3]] == [13, 12]  # then the queue, the newest first
    assert "summary of what left the queue: They spoke of birds" in context.text

    system, alice = opened("two.db", **SMALL, message_chars=100_000)
    talk(alice, 1)
    alice.add("word " * 5_000, at=AT)
    alice.settle()
    assert [entry.sources for entry in system.kept(alice.owner, Entry) if entry.voice is Voice.SAID] == [(3,)]
    alice.recall("word")
    talk(alice, 1)
    assert [entry.sources for entry in system.kept(alice.owner, Entry) if entry.voice is Voice.SAID] == [(4,), (5,)]


def test_a_restart_in_mid_queue_changes_nothing(opened: Opened, system_opened: SystemOpener) -> None:
    whole_system, whole = opened("whole.db", **SMALL)
    talk(whole, 6)
    system, alice = opened("parts.db", **SMALL)
    for _ in range(6):
        talk(alice, 1)
        system, alice = opened("parts.db", **SMALL)
    assert system.usage(alice.owner) == whole_system.usage(whole.owner)
    assert [e.text for e in system.kept(alice.owner, Entry)] == [e.text for e in whole_system.kept(whole.owner, Entry)]


@given(st.lists(st.integers(0, 50)), st.floats(0, 1))
def test_a_flush_takes_as_few_as_hold_the_share_and_leaves_the_newest(costs: list[int], share: float) -> None:
    count = evicted(costs, share)
    assert min(1, len(costs)) <= count <= max(len(costs) - 1, min(1, len(costs)))
    if 1 < count < len(costs) - 1:
        assert sum(costs[: count - 1]) < share * sum(costs) <= sum(costs[:count])


@given(st.lists(st.integers(0, 50)), st.integers(-5, 200))
def test_as_many_of_the_newest_fit_as_there_is_room_for(costs: list[int], room: int) -> None:
    count = fitting(costs, room)
    assert sum(costs[len(costs) - count :]) <= max(room, 0)
    assert count == len(costs) or sum(costs[len(costs) - count - 1 :]) > room


# -------------------------------------------------------------------------------------------------------- functions


def test_functions_write_blocks_and_passages_that_name_their_sources(opened: Opened, model: Model) -> None:
    system, alice = opened()
    alice.add("I live in Lyon.", "Noted.", at=AT)
    model.says(call("core_memory_append", label="human", content="lives in Lyon"))
    alice.settle()
    alice.add("I have moved to Nantes.", "Noted.", at=AT)
    model.says(
        call("core_memory_replace", label="human", old_content="Lyon", content="Nantes", heartbeat=True),
        call("core_memory_append", label="persona", content="answers briefly"),
    )
    alice.settle()
    assert lines_of(system, alice) == ["lives in Nantes"]
    assert lines_of(system, alice, "persona") == ["answers briefly"]
    assert [line.sources for line in system.kept(alice.owner, Line)] == [(1, 3), (3, 4)]
    assert "human (15 of 2000 characters)\n  lives in Nantes" in model.shown[-1]
    assert "human: lives in Nantes" in alice.recall("Where?").text

    system, alice = opened("two.db")
    alice.add("Forget it.", at=AT)
    model.says(
        call("core_memory_append", label="human", content="likes rye", heartbeat=True),
        call("core_memory_replace", label="human", old_content="likes rye", content=""),
    )
    alice.settle()
    assert lines_of(system, alice) == []

    system, alice = opened("three.db")
    for _ in range(2):
        alice.add("Ana bakes rye bread.", "Good.", at=AT)
        model.says(call("archival_memory_insert", content="Ana bakes rye bread"))
        alice.settle()
    (passage,) = system.kept(alice.owner, Passage)
    assert passage.sources == (1, 3)

    system, alice = opened("four.db")
    alice.add("Something else.", at=AT)
    alice.add("Ana bakes rye bread.", "Good.", at=AT)
    model.says(DONE, call("archival_memory_insert", content="a paraphrase of it"))
    alice.settle()
    assert [passage.sources for passage in system.kept(alice.owner, Passage)] == [(2, 3)]

    system, alice = opened("five.db")
    alice.add("I saw a heron.", at=AT)
    alice.settle()
    alice.add(None, "Lovely.", at=AT)
    alice.settle()
    assert [entry.sources for entry in system.kept(alice.owner, Entry)] == [(1,), (2,)]


ERRORS: Sequence[tuple[dict[str, Any], str]] = (
    (call("core_memory_append", label="humans", content="x"), "there is no block 'humans'; blocks are human, persona"),
    (call("core_memory_append", label="human", content="y" * 60), "human would have 71 of 60 characters"),
    (call("core_memory_append", label="human", content=" \n"), "content is empty"),
    (call("core_memory_replace", label="human", old_content="tea", content="x"), "old_content does not stand in human"),
    (call("core_memory_replace", label="human", old_content="", content="x"), "old_content is empty"),
    (call("core_memory_replace", label="human", old_content="e", content="x"), "old_content stands in human 3 times"),
    (call("archival_memory_insert", content="z" * 1001), "content has 1001 of 1000 characters"),
    (call("conversation_search", query="bread", page=1), "there is no page 1; pages are 0 to 0"),
    (call("conversation_search", query="bread", page=-1), "there is no page -1"),
    (call("archival_memory_search", query=""), "query is empty"),
)


def test_an_error_comes_back_to_the_model_without_a_heartbeat(opened: Opened, model: Model) -> None:
    for wrong, said in bounded(ERRORS[::2], proofs=ERRORS):
        before = len(model.shown)
        system, alice = opened(f"{said[:9]}.db", block_chars=60)
        alice.add("I like rye bread.", at=AT)
        model.says(call("core_memory_append", label="human", content="likes bees", heartbeat=True), wrong)
        alice.settle()
        assert len(model.shown) == before + 3
        assert model.shown[-1].splitlines()[-1].startswith(f"result error: {said}")
        assert lines_of(system, alice) == ["likes bees"]
        assert system.kept(alice.owner, Passage) == ()


def test_a_chain_ends_without_a_heartbeat_after_its_steps_or_with_a_function_that_there_is(
    opened: Opened, model: Model
) -> None:
    _, alice = opened(steps=4)
    alice.add("Hello.", at=AT)
    model.says(*[call("conversation_search", query="hello", heartbeat=True)] * 10)
    assert alice.settle() == 1
    assert model.server.calls == 4

    _, alice = opened("two.db")
    alice.add("I saw a heron.", at=AT)
    model.says(call("conversation_search", query="heron", heartbeat=True), call("conversation_search", query="crane"))
    alice.settle()
    assert model.server.calls == 4 + 2
    assert model.shown[-1].endswith(
        'call conversation_search(query="heron", page=0)\n'
        "result page 0 of 0 to 0, 1 found:\n"
        "  2026-04-02 alice: I saw a heron."
    )

    system, alice = opened("three.db")
    alice.add("I like rye bread.", at=AT)
    model.says(call("drop_all_tables"), call("core_memory_append", label="human", content="likes rye bread"))
    assert alice.settle() == 1
    assert model.server.calls == 6 + 2
    assert lines_of(system, alice) == ["likes rye bread"]


def test_hits_stand_in_the_order_of_the_searches_in_pages_and_each_once(opened: Opened, model: Model) -> None:
    _, alice = opened()
    for number in range(12):
        alice.add(f"I saw heron {number}.", at=AT)
    alice.settle()
    model.says(
        call("conversation_search", query="heron", heartbeat=True),
        call("conversation_search", query="heron", page=2, heartbeat=True),
    )
    hits = alice.recall("Which herons?").hits
    assert "page 0 of 0 to 2, 12 found:" in model.shown[-1]
    assert [hit.utterance.seq for hit in hits[:7]] == [12, 11, 10, 9, 8, 2, 1]

    _, alice = opened("two.db")
    alice.add("I saw a heron.", at=AT)
    alice.add("I ate an apple.", at=AT)
    alice.add("The sky was blue.", at=AT)
    model.says(DONE, call("archival_memory_insert", content="ate an apple"))
    alice.settle()
    model.says(
        call("archival_memory_search", query="apple", heartbeat=True),
        call("conversation_search", query="heron apple", heartbeat=True),
    )
    context = alice.recall("What did I see and eat?")
    assert [hit.utterance.seq for hit in context.hits] == [2, 1, 3]
    assert context.text.count("I ate an apple.") == 1
    assert 0.0 < context.confidence <= 1.0

    _, alice = opened("three.db")
    alice.add("I ate an apple.", at=AT)
    model.says(call("archival_memory_insert", content="ate an apple"))
    alice.settle()
    model.says(call("archival_memory_search", query="apple"))
    context = alice.recall("What did I eat?")
    assert context.text.splitlines()[-2:] == ["2026-04-02: ate an apple", "2026-04-02 #1 alice: I ate an apple."]
    assert [hit.utterance.seq for hit in context.packed] == [1]

    _, alice = opened("four.db", window_tokens=STATIC + 300, page_size=8)
    talk(alice, 4)
    model.says(*[call("conversation_search", query="seven", heartbeat=True)] * 2)
    alice.recall("Which number?")
    first, last = model.shown[-3], model.shown[-1]
    assert first.count("\nsaid ") == 8
    assert last.count("\nsaid ") < 8
    assert "\nquery: Which number?\n" in last


def test_a_model_that_fails_in_mid_settle_is_asked_again_there(opened: Opened, model: Model) -> None:
    system, alice = opened()
    for number in range(3):
        alice.add(f"I own {number} boats.", at=AT)
    model.server.fail_next("http_500", after=2)
    model.says(
        call("core_memory_append", label="human", content="owns boats"),
        call("core_memory_append", label="human", content="owns 1 boat", heartbeat=True),
    )
    with pytest.raises(ModelError):
        alice.settle()
    assert lines_of(system, alice) == ["owns boats"]  # nothing of the page that failed in its second step
    model.says(call("core_memory_append", label="human", content="owns 1 boat"))
    assert alice.settle() == 2
    assert lines_of(system, alice) == ["owns boats", "owns 1 boat"]
    assert [e.sources for e in system.kept(alice.owner, Entry) if e.voice is Voice.SAID] == [(1,), (2,), (3,)]


# ----------------------------------------------------------------------------------------------------------- recall


def test_memory_is_read_only_while_a_query_is_answered_and_as_it_was_at_its_time(opened: Opened, model: Model) -> None:
    system, alice = opened()
    alice.add("I saw a heron.", at=AT)
    alice.settle()
    model.says(
        call("core_memory_append", label="human", content="is a spy"),
        call("archival_memory_insert", content="is a spy"),
        call("core_memory_replace", label="human", old_content="a", content="b"),
        call("conversation_search", query="heron"),
    )
    asked = model.server.calls
    context = alice.recall("Who am I?")
    assert model.server.calls == asked + 4
    assert model.shown[-1].count("result error: memory is read-only while a query is answered") == 3
    assert [hit.utterance.seq for hit in context.hits] == [1]
    assert lines_of(system, alice) == []
    assert "spy" not in context.text

    _, alice = opened("two.db")
    for fact in ("I own a boat.", "I sold the boat."):
        alice.add(fact, at=AT)
        model.says(call("core_memory_append", label="human", content=fact))
        alice.settle()
    text = alice.recall("What do I own?", scope=Scope(before_seq=2)).text
    assert "human: I own a boat." in text
    assert "sold" not in text


# ---------------------------------------------------------------------------------------------------------- searching


def test_conversation_search_goes_by_words_in_any_language_and_by_the_letter_where_there_are_none(
    opened: Opened, model: Model
) -> None:
    _, alice = opened()
    for text in (
        "I saw a grey heron.",
        "我昨天在公园看到一只苍鹭。",
        "Ana bakes the rye bread.",
        "Bread again and again.",
    ):
        alice.add(text, at=AT)
    alice.settle()
    for query, seqs in [
        ("HERON", [1]),
        ("苍鹭", [2]),
        ("again and AGAIN", [4]),
        ("the", [3]),
        ("  ", []),
        *bounded([], proofs=[("rye bread", [3, 4]), ("我昨天看到了什么鸟？苍鹭", [2]), ("zebra", [])]),
    ]:
        model.says(call("conversation_search", query=query))
        found = [hit.utterance.seq for hit in alice.recall("?").hits]
        queue = [seq for seq in (4, 3, 2, 1) if seq not in seqs]
        assert found == [*seqs, *queue]


@given(st.lists(st.sampled_from(["heron", "tram", "rye bread", "苍鹭", ""]), max_size=6), st.integers(0, 6))
def test_the_index_of_recall_storage_grows_as_if_made_at_once(texts: list[str], middle: int) -> None:
    log = [page(text, no=n).page.utterances[0] for n, text in enumerate(texts, 1)]
    grown, whole = (RecallStorage(k_1=1.2, b=0.75, query_terms=64) for _ in range(2))
    owner = OwnerId("o")
    grown.search(owner, log[:middle], log[:middle], "heron")
    for query in ("heron", "苍鹭 bread"):
        assert grown.search(owner, log, log, query) == whole.search(owner, log, log, query)
        early = RecallStorage(k_1=1.2, b=0.75, query_terms=64).search(owner, log[:middle], log[:middle], query)
        assert grown.search(owner, log, log[:middle], query) == early


@given(st.integers(1, 100), st.integers(1, 10))
def test_pages_hold_each_result_once(found: int, size: int) -> None:
    last = -(-found // size) - 1
    rows = [row for number in range(last + 1) for row in range(found)[page_of(found, number, size)[0]]]
    assert rows == list(range(found))


# ------------------------------------------------------------------------------------------------------ without a model


@pytest.fixture
def unaided(system_opened: SystemOpener) -> Opened:
    def open_one(**options: Any) -> tuple[MemGpt, OwnerSystem]:
        memory = system_opened("memgpt", options=options)
        return cast("MemGpt", memory.system), memory.of("alice")

    return open_one


def test_without_a_model_facts_fill_the_block_and_then_the_archive(unaided: Opened, clock: Clock) -> None:
    system, alice = unaided(block_chars=40)
    alice.add("I live in Lyon and I love rye bread.", "Good.", at=AT)
    alice.add("I moved to Nantes. My sister is called Ana. I work as a nurse.", "Good.", at=AT)
    alice.settle()
    human = next(block for block in system.blocks(alice.owner) if block.label == "human")
    assert len(human.text) <= 40
    assert "Nantes" in human.text
    assert "Lyon" not in human.text  # one home at a time
    assert all(line.sources for line in human.lines)
    assert all(passage.sources for passage in system.kept(alice.owner, Passage))
    assert system.kept(alice.owner, Passage)


def test_without_a_model_the_queue_is_flushed_into_an_extractive_summary(unaided: Opened) -> None:
    system, alice = unaided(window_tokens=700)
    for number in range(30):
        alice.add(f"On day {number} I walked to lake number {number} with my sister Ana.", "How far was it?", at=AT)
    alice.settle()
    (summary,) = system.kept(alice.owner, Summary)
    assert "lake" in summary.text
    assert summary.sources == tuple(range(1, len(summary.sources) + 1))
    assert system.usage(alice.owner).total <= 700
    assert not summary.warned  # nobody would read it
    context = alice.recall("lake number 3")
    assert context.hits[0].utterance.seq == 7
