"""Mem0 step by step: what a conversation leaves in memory, and that what its published code lost is kept here.

The model's answers are given by the tests; questions without one are answered by rule (testing/scripts).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from embermem import Scope
from embermem.core.errors import ModelError, ModelReplyError
from embermem.embedders.hashed import HashedNgrams
from embermem.testing.model_server import ModelServer
from embermem_bench.scripted import systems as scripts
from embermem_bench.systems import OwnerSystem, SystemMemory
from embermem_bench.systems.mem0 import Candidate, Desk, Mem0, Memory, Summary
from embermem_bench.systems.mem0_shared import ranked, stacked
from embermem_bench.systems.records import RecordId
from memory_systems.conftest import SystemOpener
from memory_systems.test_contract import dump
from proofs import bounded

Json = dict[str, Any]
Said = Mapping[str, Json | Callable[[str], Json]]


class Script:
    """Answers by the schema's name, given by a test for the page at hand; all that was asked, as (name, shown)."""

    def __init__(self) -> None:
        self.answers: Said = {}
        self.asked: list[tuple[str, str]] = []

    def __call__(self, request: Mapping[str, Any]) -> str | Json:
        form, shown = request["response_format"], scripts.shown(request)
        # After two answers of another form a server is asked for any object: then the prompt tells the form.
        facts = any('{"facts":{' in message["content"] for message in request["messages"])
        name = form["json_schema"]["name"] if "json_schema" in form else "Mem0Facts" if facts else ""
        self.asked.append((name, shown))
        answer = self.answers.get(name)
        if answer is None:
            return scripts.answer(request)
        return answer(shown) if callable(answer) else answer

    def of(self, name: str) -> list[str]:
        """What was shown with a question."""
        return [shown for asked, shown in self.asked if asked == name]


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def model_server(script: Script) -> Iterator[ModelServer]:
    with ModelServer(script) as server:
        yield server


@pytest.fixture
def alice(system_opened: SystemOpener) -> OwnerSystem:
    return opened(system_opened)[1]


def opened(system_opened: SystemOpener, name: str = "mem0", **more: Any) -> tuple[SystemMemory, OwnerSystem]:
    memory = system_opened(name, scripted=True, model_retries=0, model_breaker_failures=1000, **more)
    return memory, memory.of("alice")


def facts(*texts: str, told: int = 1) -> Json:
    return {"facts": [{"text": text, "messages": [told]} for text in texts]}


def operation(kind: str, words: str = "", text: str = "") -> Callable[[str], Json]:
    """An update of the shown memory that holds these words; the number 0 for none."""

    def answer(shown: str) -> Json:
        found = re.search(rf"^memory (\d+): .*{re.escape(words)}", shown, re.MULTILINE) if words else None
        return {"operation": kind, "memory": int(found[1]) if found else 0, "text": text}

    return answer


def told(owner: OwnerSystem, script: Script, query: str, day: int, **answers: Json | Callable[[str], Json]) -> None:
    """One page, its answers by the schema's name, learnt."""
    script.answers = answers
    owner.add(query, "I see.", at=f"2026-05-{day:02d}T10:00:00+00:00")
    owner.settle()


def system_of(owner: OwnerSystem) -> Mem0:
    system = owner._memory.system
    assert isinstance(system, Mem0)
    return system


def memories(owner: OwnerSystem) -> list[Memory]:
    return list(system_of(owner).kept(owner.owner, Memory))


def held(owner: OwnerSystem) -> list[tuple[str, tuple[int, ...]]]:
    """Text and sources of what is valid, oldest first."""
    return [(memory.text, memory.sources) for memory in memories(owner) if memory.ended_at is None]


NANTES, CATS = "Alice lives in Nantes", "Alice keeps two cats"


def begun(owner: OwnerSystem, script: Script) -> None:
    told(
        owner,
        script,
        "I live in Nantes and keep two cats.",
        1,
        Mem0Facts=facts(NANTES, CATS),
        Mem0Update=operation("ADD"),
    )


# ------------------------------------------------------------------------------------------------------ the paper's way


def test_a_conversation_adds_updates_deletes_and_leaves_alone_as_the_paper_says(
    alice: OwnerSystem, script: Script
) -> None:
    begun(alice, script)
    assert held(alice) == [(NANTES, (1,)), (CATS, (1,))]
    assert [name for name, _ in script.asked] == ["Mem0Facts", "Mem0Update"]  # nothing to compare the first with

    named = "Alice keeps two cats, Nim and Pip"
    told(
        alice,
        script,
        "My cats are called Nim and Pip.",
        2,
        Mem0Facts=facts("Alice's cats are called Nim and Pip"),
        Mem0Update=operation("UPDATE", "two cats", named),
    )
    assert held(alice) == [(NANTES, (1,)), (named, (1, 3))]

    told(
        alice,
        script,
        "I moved to Lyon.",
        3,
        Mem0Facts=facts("Alice lives in Lyon"),
        Mem0Update=operation("DELETE", "Nantes"),
    )
    assert held(alice) == [(named, (1, 3)), ("Alice lives in Lyon", (5,))]
    (gone,) = [memory for memory in memories(alice) if memory.ended_at]
    assert (gone.text, gone.ended_at, gone.ended_by) == (NANTES, datetime(2026, 5, 3, 10, tzinfo=UTC), 5)

    before = held(alice)
    told(
        alice,
        script,
        "As I said, Lyon is home.",
        4,
        Mem0Facts=facts("Alice has her home in Lyon"),
        Mem0Update=operation("NOOP", "Lyon"),
    )
    assert held(alice) == before


def test_a_model_is_shown_the_summary_the_messages_of_the_thread_and_the_nearest_memories(
    system_opened: SystemOpener, script: Script, alice: OwnerSystem
) -> None:
    _, alice = opened(system_opened, options={"recent": 3, "summary_every": 4})
    for day in range(1, 4):
        told(alice, script, f"Day {day} at the lake.", day, Mem0Summary={"summary": "Alice is at a lake."})
    first, _, third = script.of("Mem0Facts")
    new = ["1 2026-05-01 alice: Day 1 at the lake.", "2 2026-05-01 assistant: I see."]
    assert first.splitlines() == ["summary: none", "before:", "new:", *new]
    assert third.splitlines() == [
        "summary: Alice is at a lake.",
        "before:",
        "2026-05-01 assistant: I see.",
        "2026-05-02 alice: Day 2 at the lake.",
        "2026-05-02 assistant: I see.",
        "new:",
        "1 2026-05-03 alice: Day 3 at the lake.",
        "2 2026-05-03 assistant: I see.",
    ]

    script.asked.clear()
    _, alice = opened(system_opened, file="two.db", options={"summary_every": 4})
    for day in range(1, 8):
        told(alice, script, f"Day {day}.", day, Mem0Summary={"summary": f"Until day {day - 1}."})
    first, second, third = script.of("Mem0Summary")
    assert first.startswith("summary so far: none\n2026-05-01 alice: Day 1.\n")
    assert second.startswith("summary so far: Until day 2.\n2026-05-03 alice: Day 3.\n")
    assert third.splitlines()[0] == "summary so far: Until day 4."
    (kept,) = system_of(alice).kept(alice.owner, Summary)
    assert (kept.text, kept.upto) == ("Until day 6.", 12)

    script.asked.clear()
    _, alice = opened(system_opened, file="three.db", options={"near": 2})
    things = ("a red kite", "a tin drum", "a rowing boat", "an old rowing boat in the harbour")
    told(
        alice,
        script,
        "Things I own.",
        1,
        Mem0Facts=facts(*(f"Alice owns {thing}" for thing in things)),
        Mem0Update=operation("ADD"),
    )
    last = script.of("Mem0Update")[-1].splitlines()
    assert len(last) == 3
    assert last[1] == "memory 1: 2026-05-01 Alice owns a rowing boat"

    alice = alice._memory.of("alice", agent="other threads")
    script.asked.clear()
    alice.add("I am in the garden.", "Nice.", at="2026-05-01T10:00:00+00:00", thread="s1")
    alice.add("My back hurts.", "Oh.", at="2026-05-02T10:00:00+00:00", thread="s2")
    alice.settle()
    assert "garden" not in script.of("Mem0Facts")[1]


def test_one_question_for_all_candidates_is_an_option(system_opened: SystemOpener, script: Script) -> None:
    _, alice = opened(system_opened, options={"update_each": False})
    told(alice, script, "I live in Nantes and keep two cats.", 1, Mem0Facts=facts(NANTES, CATS))
    assert held(alice) == [(NANTES, (1,)), (CATS, (1,))]

    def both(shown: str) -> Json:
        home, cats = (operation("", words)(shown)["memory"] for words in ("Nantes", "cats"))
        return {
            "updates": [
                {"fact": 2, "operation": "UPDATE", "memory": cats, "text": "Alice keeps three cats"},
                {"fact": 1, "operation": "DELETE", "memory": home, "text": ""},
            ]
        }

    told(
        alice,
        script,
        "Lyon is home now, and a third cat came.",
        2,
        Mem0Facts=facts("Alice lives in Lyon", "Alice has a third cat"),
        Mem0Updates=both,
    )
    assert held(alice) == [("Alice keeps three cats", (1, 3)), ("Alice lives in Lyon", (3,))]
    assert [name for name, _ in script.asked] == ["Mem0Facts", "Mem0Facts", "Mem0Updates"]


def test_what_holds_is_recalled_with_its_day_and_for_a_past_time_what_was_known_then(
    alice: OwnerSystem, script: Script
) -> None:
    begun(alice, script)
    told(
        alice,
        script,
        "I moved to Lyon.",
        2,
        Mem0Facts=facts("Alice lives in Lyon"),
        Mem0Update=operation("DELETE", "Nantes"),
    )
    context = alice.recall("Where does Alice live?")
    assert context.text.splitlines() == ["2026-05-02 Alice lives in Lyon", "2026-05-01 Alice keeps two cats"]
    assert [hit.utterance.seq for hit in context.hits] == [3, 1]
    assert "Nantes" in alice.recall("Where does Alice live?", at="2026-05-01T12:00:00+00:00").text
    assert "Nantes" in alice.recall("Where does Alice live?", scope=Scope(before_seq=3)).text

    alice = alice._memory.of("alice", agent="past")
    script.asked.clear()
    begun(alice, script)
    named = "Alice keeps two cats, Nim and Pip"
    told(
        alice,
        script,
        "My cats are called Nim and Pip. I row, too.",
        3,
        Mem0Facts=facts("Alice's cats are called Nim and Pip", "Alice rows"),
        Mem0Update=lambda shown: operation(*(("ADD",) if "rows" in shown else ("UPDATE", "two cats", named)))(shown),
    )
    now = {"2026-05-01 Alice lives in Nantes", f"2026-05-03 {named}", "2026-05-03 Alice rows"}
    then = {"2026-05-01 Alice lives in Nantes", "2026-05-01 Alice keeps two cats"}
    question = "What does Alice keep, and does she row?"
    assert set(alice.recall(question).text.splitlines()) == now
    assert set(alice.recall(question, at="2026-05-03T10:00:00+00:00").text.splitlines()) == now
    past = alice.recall(question, at="2026-05-02T10:00:00+00:00")
    assert set(past.text.splitlines()) == then
    assert [hit.utterance.seq for hit in past.hits] == [1]
    assert set(alice.recall(question, scope=Scope(before_seq=3)).text.splitlines()) == then
    assert alice.recall(question, at="2026-04-30T10:00:00+00:00").text == ""


# ------------------------------------------------------------------------------------------- what is not to be believed


def test_only_what_was_shown_is_changed_and_each_candidate_is_decided_about_once(
    alice: OwnerSystem, script: Script, model_server: ModelServer, system_opened: SystemOpener
) -> None:
    for answer, said in [
        ({"operation": "UPDATE", "memory": 7, "text": "Alice lives in Rome"}, "There is no memory 7"),
        ({"operation": "UPDATE", "memory": 1, "text": " \u202e "}, "UPDATE needs the new text"),
        *bounded([], proofs=[({"operation": "DELETE", "memory": 0, "text": ""}, "There is no memory 0")]),
    ]:
        alice = alice._memory.of("alice", agent=said)
        begun(alice, script)
        before = held(alice)
        with pytest.raises(ModelReplyError):
            told(alice, script, "I moved.", 2, Mem0Facts=facts("Alice moved"), Mem0Update=answer)
        assert said in json.dumps(model_server.requests[-1])  # the repair round says what is wrong
        assert held(alice) == before
        script.answers = {"Mem0Facts": facts("Alice moved"), "Mem0Update": operation("ADD")}
        assert alice.settle() == 1
        assert held(alice) == [*before, ("Alice moved", (3,))]

    alice = alice._memory.of("alice", agent="candidate")
    script.asked.clear()
    with pytest.raises(ModelReplyError):
        told(alice, script, "I moved.", 1, Mem0Facts=facts("Alice moved", told=3))
    assert "There is no message 3" in json.dumps(model_server.requests[-1])
    assert held(alice) == []

    for updates in [
        [(1, "DELETE", 1), (2, "UPDATE", 1)],
        [(1, "ADD", 0)],
        *bounded([], proofs=[[(1, "ADD", 0), (1, "ADD", 0)]]),
    ]:
        _, alice = opened(system_opened, file=f"{len(updates)}-{updates[-1][0]}.db", options={"update_each": False})
        told(alice, script, "I live in Nantes.", 1, Mem0Facts=facts(NANTES))
        decided = {"updates": [{"fact": f, "operation": o, "memory": m, "text": "Alice lives"} for f, o, m in updates]}
        with pytest.raises(ModelReplyError):
            told(alice, script, "I moved.", 2, Mem0Facts=facts("Alice moved", "Alice has a flat"), Mem0Updates=decided)
        assert held(alice) == [(NANTES, (1,))]


def test_a_model_sees_none_of_our_ids_and_its_answers_are_one_line_and_cut(
    alice: OwnerSystem, script: Script, system_opened: SystemOpener
) -> None:
    begun(alice, script)
    told(alice, script, "I moved.", 2)
    ids = [*(memory.id for memory in memories(alice)), alice.owner.id]
    assert not [one for one in ids for _, shown in script.asked if one in shown]

    _, alice = opened(system_opened, file="two.db", options={"fact_chars": 40, "facts_most": 2})
    long = "Alice\nsaw \u0007a\u202e heron " + "and a duck " * 50
    told(
        alice, script, "Birds!", 1, Mem0Facts=facts(long, "Alice was out", "One too many"), Mem0Update=operation("ADD")
    )
    texts = [text for text, _ in held(alice)]
    assert texts[0].startswith("Alice saw a heron and")
    assert len(texts[0]) <= 40
    assert texts[1:] == ["Alice was out"]


# ------------------------------------------------------------------------------- defects of published code, not of ours


def test_nothing_said_is_lost_by_a_contradiction_a_repetition_or_an_answer_that_cannot_be_read(
    alice: OwnerSystem, script: Script, model_server: ModelServer
) -> None:
    # A DELETE took away the old fact and did not add the new one: the store was empty.
    told(alice, script, "I live in Nantes.", 1, Mem0Facts=facts(NANTES))
    told(
        alice, script, "I live in Lyon.", 2, Mem0Facts=facts("Alice lives in Lyon"), Mem0Update=operation("DELETE", "A")
    )
    assert held(alice) == [("Alice lives in Lyon", (3,))]

    alice = alice._memory.of("alice", agent="twice")
    script.asked.clear()
    # The same fact added a second time was answered with DELETE, and gone.
    for day, text in ((1, NANTES), (2, "alice lives in nantes.")):
        told(alice, script, "I live in Nantes.", day, Mem0Facts=facts(text), Mem0Update=operation("DELETE", "Nantes"))
    assert held(alice) == [(NANTES, (1,))]
    assert script.of("Mem0Update") == []
    with pytest.raises(ModelReplyError):
        told(
            alice,
            script,
            "In Nantes I live.",
            3,
            Mem0Facts=facts("In Nantes Alice lives"),
            Mem0Update=operation("DELETE", "Nantes"),
        )
    assert "does not contradict" in json.dumps(model_server.requests[-1])
    assert held(alice) == [(NANTES, (1,))]

    for fault in ["wrong_shape", "http_500", *bounded([], proofs=[*("garbage", "truncated")])]:
        # Extraction that could not be parsed was logged, and its messages marked as read.
        alice = alice._memory.of("alice", agent=fault)
        alice.add("I live in Nantes.", "I see.", at="2026-05-01T10:00:00+00:00")
        script.answers = {"Mem0Facts": facts(NANTES)}
        model_server.fail_always(fault)
        with pytest.raises(ModelError):
            alice.settle()
        assert memories(alice) == []
        model_server.recover()
        assert alice.settle() == 1
        assert held(alice) == [(NANTES, (1,))]


def test_what_an_update_replaced_is_told_of_a_time_before_only_and_goes_with_its_owner(
    system_opened: SystemOpener, script: Script, tmp_path: Path
) -> None:
    """The text of a changed memory stayed in a table of its history, also when all was deleted."""
    _, alice = opened(system_opened, file="one.db")
    told(alice, script, "Cats!", 1, Mem0Facts=facts("Alice keeps quokkas"))
    told(
        alice,
        script,
        "Cats, I said.",
        2,
        Mem0Facts=facts("They are cats"),
        Mem0Update=operation("UPDATE", "quokkas", "Alice keeps cats"),
    )
    assert alice.recall("What does Alice keep?").text == "2026-05-02 Alice keeps cats"
    assert alice.recall("quokkas", at="2026-05-01T11:00:00+00:00").text == "2026-05-01 Alice keeps quokkas"
    told(alice, script, "And?", 3, Mem0Facts=facts("Alice has cats"), Mem0Update=operation("NOOP", "cats"))
    assert "quokkas" not in "".join(script.of("Mem0Update")[-1:])
    alice.forget_owner()
    assert "Alice keeps" not in "".join(dump(tmp_path / "one.db"))


# ------------------------------------------------------------------------------------------------ failure and restart


def test_a_failure_in_mid_settle_keeps_what_was_learnt_and_goes_on_after_a_restart(
    system_opened: SystemOpener, script: Script, model_server: ModelServer
) -> None:
    memory, alice = opened(system_opened, file="one.db")
    pages = (("I live in Nantes.", NANTES), ("I keep two cats.", CATS), ("I row.", "Alice rows"))
    for day, (query, _) in enumerate(pages, 1):
        alice.add(query, "I see.", at=f"2026-05-0{day}T10:00:00+00:00")

    def by_page(shown: str) -> Json:
        new = shown.partition("new:\n")[2]
        return facts(*(text for query, text in pages if query in new))

    script.answers = {"Mem0Facts": by_page, "Mem0Update": operation("ADD")}
    model_server.fail_next("http_500", after=2)  # extraction of two pages; then the update of the second
    with pytest.raises(ModelError):
        alice.settle()
    assert held(alice) == [(NANTES, (1,))]
    memory.close()
    _, again = opened(system_opened, file="one.db")
    assert again.settle() == 2
    assert held(again) == [(NANTES, (1,)), (CATS, (3,)), ("Alice rows", (5,))]


def test_a_page_is_read_in_parts_and_where_it_is_new(
    alice: OwnerSystem, script: Script, system_opened: SystemOpener
) -> None:
    alice.add("I live in Nantes.", at="2026-05-01T10:00:00+00:00")
    alice.settle()
    alice.add_messages([{"role": "assistant", "content": "Nantes has fine trams."}], at="2026-05-01T10:01:00+00:00")
    alice.settle()
    first, second = (shown.partition("new:\n")[2] for shown in script.of("Mem0Facts"))
    assert first == "1 2026-05-01 alice: I live in Nantes."
    assert second == "1 2026-05-01 assistant: Nantes has fine trams."

    script.asked.clear()
    _, alice = opened(system_opened, file="two.db", options={"pair_most": 3})
    said = [{"role": "user", "content": f"Thing {n} is done."} for n in range(7)]
    alice.add_messages(said, at="2026-05-01T10:00:00+00:00")
    assert alice.settle() == 1
    parts = [shown.partition("new:\n")[2].splitlines() for shown in script.of("Mem0Facts")]
    assert [len(part) for part in parts] == [3, 3, 1]
    assert {seq for _, sources in held(alice) for seq in sources} == set(range(1, 8))


# --------------------------------------------------------------------------------------------------- without a model


@pytest.fixture
def bare(system_opened: SystemOpener) -> OwnerSystem:
    """Without a model."""
    return system_opened("mem0").of("alice")


def learnt(owner: OwnerSystem, *queries: str) -> list[str]:
    for day, query in enumerate(queries, 1):
        owner.add(query, None, at=f"2026-05-{day:02d}T10:00:00+00:00", thread=f"s{day}")
    owner.settle()
    return [text for text, _ in held(owner)]


def test_without_a_model_facts_and_statements_are_kept_once_and_end_when_they_change(bare: OwnerSystem) -> None:
    texts = learnt(bare, "I live in Nantes. The tram was late again today! Shall we meet the others at noon?")
    assert texts == ["alice lives in Nantes", "alice: The tram was late again today!"]

    for first, second, old, new in [
        ("I live in Nantes.", "I live in Lyon now.", "alice lives in Nantes", "alice lives in Lyon"),
        ("I work as a nurse.", "I work as a teacher now.", "alice works as a nurse", "alice works as a teacher"),
    ]:
        bare = bare._memory.of("alice", agent=new)
        texts = learnt(bare, first, second)
        assert new in texts
        assert old not in texts
        assert old in [memory.text for memory in memories(bare) if memory.ended_by == 2]

    bare = bare._memory.of("alice", agent="back")
    texts = learnt(bare, "I live in Nantes.", "I don't live in Nantes any more.")
    assert texts == ["alice: I don't live in Nantes any more."]

    bare = bare._memory.of("alice", agent="at once")
    assert "alice lives in Nantes" not in learnt(bare, "I live in Nantes. I no longer live in Nantes.")

    bare = bare._memory.of("alice", agent="again")
    long = "The old lighthouse keeper of the northern harbour told me a story about storms and ships"
    assert learnt(bare, f"{long}.", f"{long}!") == [f"alice: {long}."]
    assert learnt(bare, f"{long} yesterday.")[-1] == f"alice: {long} yesterday."
    assert [sources for _, sources in held(bare)] == [(1, 3)]


# ---------------------------------------------------------------------------------------------------- the working set


@given(st.lists(st.tuples(st.sampled_from("pue"), st.integers(0, 9)), max_size=25), st.integers(1, 6))
def test_a_desk_finds_what_holds_as_if_it_were_all_looked_at_anew(steps: list[tuple[str, int]], k: int) -> None:
    embed = HashedNgrams().embed
    made = [
        Memory(id=RecordId(f"r{n}"), text=f"thing {n}", at=datetime(2026, 5, 1, tzinfo=UTC), vector=vector)
        for n, vector in enumerate(embed([f"thing {n}" for n in range(10)]))
    ]
    desk = Desk(made[:5])
    holds = {memory.id: memory for memory in made[:5]}
    for step, number in steps:
        memory = holds.get(made[number].id, made[number])
        if step == "e" and memory.id in holds:
            desk.end(memory, Candidate(text="", sources=(7,), at=memory.at))
            del holds[memory.id]
        elif step != "e":
            text = f"thing {number}{'!' * (step == 'u')} again"
            changed = Memory(id=memory.id, text=text, at=memory.at, vector=embed([text])[0])
            desk.put(changed)
            holds[memory.id] = changed
    query = embed(["thing 3 again"])[0]
    rows = list(holds.values())
    expected = [score for score, _ in ranked(query, stacked(rows), rows, k)]
    found = desk.nearest(query, k)
    assert np.allclose([score for score, _ in found], expected)
    assert {memory.id for _, memory in found} <= set(holds)
