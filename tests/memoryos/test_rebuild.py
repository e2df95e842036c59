"""Deriving memory again: the log gives the same to the last row, and today's analyst a better one."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bench_of import ALICE, LINES, Maker
from embermem import OwnerMemory, Tier
from embermem.core.changes import Cause, FactDenied, ProfileSet
from embermem.core.errors import BudgetSpent
from embermem.core.types import Annotation
from embermem.memoryos.rebuild import begin_anew, replay, understand_anew
from embermem.protocols import ModelReply, ModelRequest
from embermem.store import schema
from lives import store_of
from proofs import bounded
from scripted import SMALL, Clock, Opener, Place, ScriptedAnalyst
from soundness import looking, rows
from state_rows import falsify

MORE = ("I moved to Nantes.", "I like figs. I like jazz. I like tea.", "Call me Sam. I was born in 1990.")
SHORT = int(SMALL["short_term_pages"])
DERIVED = (schema.segment, schema.page, schema.embedding, schema.change, schema.utterance)


def dump(place: str | Path) -> dict[str, list[str]]:
    """Every table that is derived or rolled up, row by row."""
    with looking(place) as look:
        return {table.name: sorted(map(str, look(f"SELECT * FROM {table.name}"))) for table in DERIVED}


def filled(alice: OwnerMemory) -> OwnerMemory:
    for n in range(8):
        alice.add(LINES[n % 5], "I am your patient tutor.", thread=f"t{n % 2}")
    alice.set_profile(name="Alice")
    alice.set_agent_profile("a patient tutor of French")
    alice.settle()
    return alice


# ------------------------------------------------------------------------------------------------ the same again


def test_a_rebuild_changes_nothing_and_says_so(opened: Opener, place: Place) -> None:
    memory = opened(mid_term_segments=2, placed_by="page", theta=0.9)
    alice = filled(memory.of("alice"))
    filled(memory.of("bob"))
    alice.visit(alice.search("heron"))
    before = dump(place())
    assert [(found.owner.user, found.same) for found in memory.rebuild()] == [("alice", True), ("bob", True)]
    (found,) = memory.rebuild(alice.owner)
    assert (found.owner, found.same, found.waiting) == (alice.owner, True, 0)
    assert dump(place()) == before


def test_a_rebuild_mends_what_was_damaged_and_names_it(opened: Opener, place: Place) -> None:
    memory = opened()
    alice = filled(memory.of("alice"))
    facts = alice.facts()
    other = {"Lyon": "Paris", "Alice": "Bob"}

    def false(decision: Any) -> Any:
        is_home = isinstance(decision, ProfileSet) and decision.name == "home"
        value = getattr(decision, "value", None)
        return replace(decision, value=other[value]) if value in other and not is_home else decision

    falsify(store_of(alice), alice.owner.id, false)
    memory = opened()
    alice = memory.of("alice")
    (found,) = memory.rebuild()
    assert not found.same
    assert [fact.value for fact in found.facts_gone] == ["Paris"]
    assert [fact.value for fact in found.facts_new] == ["Lyon"]
    ((old, new),) = found.profile
    assert (old and old.value, new and new.value) == ("Bob", "Alice")
    assert alice.facts() == facts
    assert "Lyon" in [fact.value for fact in alice.recall("Where do I live?").facts]


def test_a_rebuild_keeps_what_waits_for_another_try(bench: Maker) -> None:
    one = bench(ScriptedAnalyst(failures=1))
    one.add(*LINES)
    one.system.settle(ALICE)
    before = dump(one.place)
    assert one.store.owner_stats(ALICE.id, SHORT).failed == 2
    assert replay(one.store, ALICE, SHORT, one.store.replay).same
    assert dump(one.place) == before


# ----------------------------------------------------------------------------------------------------- anew


def test_understanding_anew_reads_every_page_with_the_present_analyst_and_keeps_what_callers_set(
    bench: Maker, opened: Opener
) -> None:
    alice = filled(opened().of("alice"))
    said = [utterance.text for page in alice.pages() for utterance in page.utterances]
    one = bench(analyst := ScriptedAnalyst())
    found = understand_anew(one.store.protocols, one.system, ALICE, SHORT, one.clock)
    assert {page for batch in analyst.asked for page in batch} == {page.id for page in one.pages(Tier.MID)}
    assert [(p.name, p.value) for p in alice.profile() if p.set_by == "caller"] == [("name", "Alice")]
    assert [line.value for line in alice.agent_profile()] == ["a patient tutor of French"]
    assert [utterance.text for page in alice.pages() for utterance in page.utterances] == said
    assert {segment.visits for segment in alice.segments()} == {0}
    assert not found.same
    assert (found.facts_gone, found.facts_new, found.waiting) == ((), (), 0)
    assert all("scripted: " in summary for summary in found.summaries_new)
    assert found.summaries_gone
    assert alice.search("heron", k=1)[0].utterance.text == "We saw a heron."


def test_a_reader_sees_at_once_that_memory_was_begun_anew(opened: Opener) -> None:
    memory = opened()
    alice = filled(memory.of("alice"))
    assert alice.recall("Where do I live?").facts
    vectors = alice.stats().without_vector
    begin_anew(memory._parts.store, alice.owner, memory._parts.clock)
    context = alice.recall("Where do I live?")
    assert context.facts == ()
    assert "Lyon" in context.text
    assert not [hit for hit in context.hits if hit.segment_id]
    assert alice.stats().without_vector == vectors == 0
    assert memory.work() > 0  # the owner is due
    assert "Lyon" in [fact.value for fact in alice.recall("Where do I live?").facts]


def test_what_was_undone_is_not_learnt_again_anew_from_the_same_words(opened: Opener) -> None:
    memory = opened()
    alice = memory.of("alice")

    def say(text: str) -> int:
        alice.add(text, "Nice.")
        alice.settle()
        return max(change.no for change in alice.changes() if change.cause is Cause.ANNOTATION)

    def held() -> list[str]:
        return sorted(fact.value for fact in alice.facts())

    say("I live in Lyon. I like jazz.")
    alice.undo(say("I moved to Nantes."))
    alice.undo(say("I like figs."))
    back = alice.undo(say("I like dates."))
    alice.undo(back)
    alice.undo(say("I don't like jazz anymore."))
    assert held() == ["Lyon", "dates", "jazz"]
    for _ in range(2):
        found = alice.understand_anew()
        assert (found.facts_gone, found.facts_new) == ((), ())
        assert held() == ["Lyon", "dates", "jazz"]
        assert [line.value for line in alice.profile() if line.name == "home"] == ["Lyon"]
    assert not any(finding.level == "error" for finding in memory.check(deep=True))
    (page,) = (page.id for page in alice.pages() if page.utterances[0].text == "I like figs.")
    alice.forget(page=page)
    said = {d.value for change in alice.changes() for d in change.decisions if isinstance(d, FactDenied)}
    assert said == {"Nantes"}  # and no denial tells what is forgotten
    say("I moved to Nantes.")
    assert held() == ["Nantes", "dates", "jazz"]


def test_a_dry_run_changes_nothing_here_and_tells_what_the_real_one_then_does(
    opened: Opener, place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "passing").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "passing"))
    memory = opened()
    alice = filled(memory.of("alice"))
    begun = len(alice.changes())
    before = dump(place())
    tried = alice.understand_anew(dry_run=True)
    assert dump(place()) == before
    assert len(alice.changes()) == begun
    assert list((tmp_path / "passing").iterdir()) == []
    done = alice.understand_anew()
    for one in (tried, done):
        assert not one.same
        assert (one.facts_gone, one.facts_new, one.profile, one.traits) == ((), (), (), ())
    assert tried.segments == done.segments
    assert tried.summaries_new == done.summaries_new


DRY_RUN = """
import sys
from embermem import Memory
with Memory(sys.argv[1], embedder="hashed", background=False, short_term_pages=2) as memory:
    memory.of("alice").understand_anew(dry_run=True, progress=lambda *done: print("reading", flush=True))
"""


def test_a_dry_run_that_is_killed_leaves_no_copy_in_any_file(opened: Opener, place: Place, tmp_path: Path) -> None:
    (tmp_path / "passing").mkdir()
    memory = opened()
    for n in range(bounded(12, proofs=60)):
        memory.of("alice").add(f"The purple heron number {n} flew over the river.", "I see.")
    memory.of("alice").settle()
    environment = {**os.environ, "TMPDIR": str(tmp_path / "passing"), "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", DRY_RUN, str(place())]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "reading\n"
        process.kill()
    own = {f"memory.db{suffix}" for suffix in ("", "-wal", "-shm")}
    others = [file for file in tmp_path.rglob("*") if file.is_file() and file.name not in own]
    assert [file for file in others if b"heron" in file.read_bytes()] == []


def test_with_the_budget_spent_half_way_the_rest_waits_and_is_said_to(bench: Maker, clock: Clock) -> None:
    class Poor(ScriptedAnalyst):
        calls = 2

        def annotate(self, *asked: Any) -> tuple[Annotation, ...]:
            if self.calls == 0:
                raise BudgetSpent("the day's calls are spent", clock.now + timedelta(hours=14))
            self.calls -= 1
            return super().annotate(*asked)

    plain = bench()
    plain.add(*LINES, *LINES)
    plain.system.settle(ALICE)
    one = bench(analyst := Poor())
    found = understand_anew(one.store.protocols, one.system, ALICE, SHORT, clock)
    assert found.waiting == 3
    assert "heron" in one.system.recall(ALICE, "heron").text
    clock.go(14 * 3600)
    analyst.calls = 99
    assert one.system.work() == 3


# ------------------------------------------------------------------------------------------------ a model's calls


class Watched:
    """A language model that notes each request, and answers none."""

    name = "watched"

    def __init__(self) -> None:
        self.asked: list[ModelRequest] = []

    def complete(self, request: ModelRequest) -> ModelReply:
        self.asked.append(request)
        return ModelReply(text="{}", prompt_tokens=1, completion_tokens=1)

    def stream(self, request: ModelRequest) -> Iterator[str | ModelReply]:
        self.asked.append(request)
        yield ModelReply(text="", prompt_tokens=1, completion_tokens=1)


def test_nothing_that_adds_recalls_or_reads_asks_a_model_and_settling_does(opened: Opener, place: Place) -> None:
    model = Watched()
    memory = opened(model=model)
    alice = memory.of("alice")
    for line in LINES:
        alice.add(line, "I see.")
    alice.add_messages([{"role": "user", "content": "Where do I live?"}])
    context = alice.recall("Where do I live?")
    alice.search("heron")
    alice.visit(context.hits)
    alice.set_profile(name="Alice")
    alice.undo(1)
    memory.rebuild()
    _ = (alice.pages(), alice.segments(), alice.facts(), alice.traits(), alice.profile(), alice.stats(), memory.check())
    assert model.asked == []
    assert rows(place(), "SELECT * FROM call") == []
    alice.settle()
    assert model.asked
    assert len(rows(place(), "SELECT * FROM call")) == len(model.asked)
    assert {page.tier for page in alice.pages()} == {Tier.MID, Tier.SHORT}  # no answer can be used: extraction reads
    assert alice.stats().failed > 0
    assert "Lyon" in alice.recall("Where do I live?").text


def test_a_model_s_name_makes_the_analyst_that_asks_it_and_none_the_extractive_one(opened: Opener) -> None:
    named = opened("a.db", model="qwen3:4b", model_url="http://127.0.0.1:9/v1")
    assert (named._parts.asker and named._parts.asker.model, named.settings.model) == ("qwen3:4b", "qwen3:4b")
    assert named._parts.system._parts.analyst.name.startswith("model:qwen3:4b/")
    for none in (None, ""):
        plain = opened("b.db", model=none)
        assert plain._parts.asker is None
        assert plain._parts.system._parts.analyst is plain._parts.system._parts.extractive
