"""Forgetting takes what rests on the forgotten pages, and no other row."""

from __future__ import annotations

import itertools
import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from embermem import Memory
from embermem.core.changes import (
    Cause,
    Change,
    Decision,
    FactAdded,
    FactStrengthened,
    ProfileSet,
    TraitSet,
)
from embermem.core.errors import NotFound, StoreError
from embermem.core.types import About, FactId, Source
from embermem.memoryos.forget.redacting import Going, redacted
from embermem.memoryos.forget.traces import Pieces, Traces
from embermem.protocols import Trail
from embermem.store import schema
from proofs import bounded
from scripted import SMALL, Clock, Opener, Place
from soundness import assert_sound, looking, meddle, rows
from state_rows import state_rows

NAMES = itertools.count()
Row = dict[str, Any]
Rows = dict[str, list[Row]]

LINES = (
    "Can you help me with the {}?",
    "Can you help me with the {}? I live in {}.",
    "I like {}. I like figs.",
    "I live in {}.",
    "My sister {} is a nurse. We saw a heron on the lake.",
    "The train to {} was late again this morning, and the next one too.",
    "It rained all day in {}.",
)
WORDS = ("router", "sonnet", "tax form", "garden", "recipe", "Lyon", "Laon", "Ana", "printer", "contract")


def stored(place: str | Path) -> Rows:
    with looking(place) as look:
        return {**state_rows(look), "segment": look("SELECT * FROM segment")}


def resting(before: Rows, said: list[Row], pages: set[str]) -> dict[str, set[str]]:
    """By table, the ids of what rests on some pages: by its sources, as their chain or segment, or by a
    fact's end."""
    seqs = {row["seq"] for row in said if row["page_id"] in pages}
    found: dict[str, set[str]] = {"note": pages, "membership": pages}
    found["chain"] = {row["chain_id"] for row in before["note"] if row["page_id"] in pages}
    segments = {row["segment_id"] for row in before["membership"] if row["page_id"] in pages}
    for row in before["segment_text"]:  # a segment also tells of its chains' pages
        if any(part.get("chain_id") in found["chain"] for part in json.loads(row["parts"])):
            segments.add(row["segment_id"])
    items = {item: {r["item_id"] for r in before["source"] if r["item"] == item and r["seq"] in seqs} for item in ITEMS}
    facts = {*items["fact"]}
    for row in before["fact_state"]:
        if row["superseded_by"] in facts:
            facts.add(row["fact_id"])
    found["chain"] |= items["chain"]
    found["segment"] = found["segment_text"] = segments | items["segment"]
    found["fact"] = found["fact_state"] = facts
    found["trait"], found["profile"], found["person"] = items["trait"], items["profile"], items["person"]
    return found


ITEMS = ("chain", "segment", "fact", "trait", "profile", "person")
IDS = {
    "note": "page_id",
    "membership": "page_id",
    "chain": "chain_id",
    "segment": "segment_id",
    "segment_text": "segment_id",
    "fact": "fact_id",
    "fact_state": "fact_id",
    "trait": "dimension",
}


def others(told: Rows, gone: dict[str, set[str]]) -> dict[str, list[str]]:
    """The rows that rest on nothing of it. When a row was touched last is told to readers only."""
    left = {}
    for table, column in IDS.items():
        kept = [row for row in told[table] if row[column] not in gone[table]]
        left[table] = sorted(repr({k: v for k, v in row.items() if k != "touched_no"}) for row in kept)
    named = [row for row in told["profile"] if f"{row['whose']}.{row['name']}" not in gone["profile"]]
    left["profile"] = sorted(map(repr, named))
    speak = [row for row in told["person"] if f"{row['relation']}.{row['one']}.{row['other']}" not in gone["person"]]
    left["person"] = sorted(map(repr, speak))
    items = {"chain": "chain", "segment": "segment_text", "fact": "fact", "trait": "trait", "profile": "profile"}
    kept = [
        row
        for row in told["source"]
        if row["item_id"] not in gone.get(items.get(str(row["item"]), str(row["item"])), set())
    ]
    left["source"] = sorted(map(repr, kept))
    return left


def assert_forgets_alone(memory: Memory, place: str | Path, page_id: str) -> None:
    alice = memory.of("alice")
    before = stored(place)
    gone = resting(before, rows(place, "SELECT * FROM utterance"), {page_id})
    alice.forget(page=page_id)
    after = others(stored(place), gone)
    for table, kept in others(before, gone).items():
        assert after[table] == kept, table
    assert_sound(place)
    wrong = [finding for finding in memory.check(deep=True) if finding.level == "error"]
    assert not wrong


def test_pages_that_begin_alike_lose_nothing_by_one_of_them(opened: Opener, place: Place) -> None:
    memory = opened()
    alice = memory.of("alice")
    words = (*WORDS, "lease", "oven")
    pages = [alice.add(f"Can you help me with the {word}?", "Gladly.", thread=word) for word in words]
    alice.settle()
    chains, segments = alice.chains(), alice.segments()
    assert len(chains) == 12
    assert_forgets_alone(memory, place(), pages[4])
    assert [chain.summary for chain in alice.chains()] == [c.summary for c in chains if pages[4] not in c.page_ids]
    assert all(segment.summary for segment in alice.segments())
    assert len(alice.segments()) in (len(segments), len(segments) - 1)


def test_a_segment_whose_text_was_all_of_pages_that_go_tells_of_the_page_that_it_keeps(
    opened: Opener, place: Place
) -> None:
    memory = opened(batch_pages=1, segment_summary_chars=80, theta=-1.0, short_term_pages=1)
    alice = memory.of("alice")
    first = alice.add("The lake near Porto was cold.", thread="trip")
    others = [
        alice.add(f"I swam in the cold lake with my {who} in 19{year}. My {who} called the lake cold.", thread="trip")
        for who, year in (("sister", 84), ("brother", 85), ("uncle", 86))
    ]
    alice.add("Good night.", thread="later")
    alice.settle()
    (segment,) = [one for one in alice.segments() if first in one.page_ids]
    assert "Porto" not in f"{segment.title} {segment.summary}"
    assert segment.page_ids == (first, *others)
    alice.forget_pages(others)
    (left,) = [one for one in alice.segments() if first in one.page_ids]
    assert left.id == segment.id
    assert "Porto" in left.summary
    assert left.said_from == alice.page(first).said_at
    assert_sound(place())
    assert not [finding for finding in memory.check(deep=True) if finding.level == "error"]


def test_what_rests_on_two_pages_rests_on_the_other_alone_once_one_is_forgotten(
    opened: Opener, place: Place, clock: Clock
) -> None:
    memory = opened()
    alice = memory.of("alice")
    pages = [alice.add(text, "I see.") for text in ("I saw a heron.", "I saw a crane.", *("It rains.",) * 3)]
    alice.settle()
    gone, stays = (
        Source(seq=one.seq, utterance_id=one.id) for one in (alice.page(page).utterances[0] for page in pages[:2])
    )
    both = (gone, stays)
    told: dict[str, Any] = {"about": About.USER, "subject": "user", "attribute": "likes", "value": "birds"}
    decisions: list[Decision] = [
        FactAdded(fact_id=FactId("f-1"), text="likes birds", sources=(stays,), valid_from=None, **told),
        FactStrengthened(fact_id=FactId("f-1"), sources=both),
        TraitSet(dimension="music", level=0.5, confidence=0.5, sources=both),
        ProfileSet(whose=About.USER, name="home", value="birds", sources=both, set_by="analyst"),
    ]
    state = memory._store.owner_state(alice.owner.id)
    assert state is not None
    memory._store.apply(alice.owner, Cause.CORRECTION, "", decisions, now=clock(), revision=state.revision, lease=None)
    alice.forget(page=pages[0])
    (change,) = [one for one in alice.changes() if one.cause is Cause.CORRECTION]
    assert [(type(one), getattr(one, "sources", None)) for one in change.decisions] == [
        (type(one), (stays,)) for one in decisions
    ]
    assert not [finding for finding in memory.check(deep=True) if finding.level == "error"]
    assert_sound(place())


def test_a_fact_that_the_cap_archived_is_not_archived_again_where_another_holds_again(
    opened: Opener, place: Place, clock: Clock
) -> None:
    memory = opened(user_facts=2)
    alice = memory.of("alice")
    for line in ("I live in Lyon. I like figs.", "I like jazz.", "I like tea.", "I moved to Nantes."):
        clock.go(60)
        page = alice.add(line, "I see.")
        alice.settle()
    assert "figs" in {fact.value for fact in alice.facts(archived=True)}
    assert_forgets_alone(memory, place(), page)
    assert "Lyon" in {fact.value for archived in (False, True) for fact in alice.facts(archived=archived)}


adds = st.tuples(
    st.integers(0, len(LINES) - 1), st.sampled_from(WORDS), st.sampled_from(("t1", "t2")), st.booleans(), st.booleans()
)


@settings(
    max_examples=bounded(3, proofs=60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(lives=st.lists(adds, min_size=4, max_size=16), forgotten=st.lists(st.integers(0, 15), min_size=1, max_size=4))
def test_whatever_was_said_only_what_rests_on_a_page_goes_with_it(
    place: Place, lives: list[tuple[int, str, str, bool, bool]], forgotten: list[int]
) -> None:
    file, clock = place(f"alone{next(NAMES)}.db"), Clock()
    with Memory(file, clock=clock, **SMALL) as memory:
        alice, pages = memory.of("alice"), []
        for line, word, thread, answered, settles in lives:
            clock.go(60)
            text = LINES[line].replace("{}", word)
            pages.append(alice.add(text, "I see." if answered else None, thread=thread))
            if settles:
                alice.settle()
        alice.settle()
        for n in forgotten:
            with suppress(NotFound):
                alice.page(pages[n % len(pages)])
                assert_forgets_alone(memory, file, pages[n % len(pages)])


@dataclass(frozen=True, kw_only=True, slots=True)
class Dreamt:
    """A kind of decision of a later Ember."""

    text: str


def test_a_kind_of_decision_that_forgetting_does_not_know_stops_it(clock: Clock) -> None:
    unknown: Any = Dreamt(text="of a secret")
    change = Change(no=1, cause=Cause.PROMOTION, analyst="", recorded_at=clock(), decisions=(unknown,))
    trail = Trail(
        begun=0, changes=(change,), chains={}, segments={}, facts=frozenset(), repeated=frozenset(), verbatim=True
    )
    going = Going(traces=Traces(), pieces=Pieces(), spoken=lambda speaker, role: None, exact=True)
    with pytest.raises(StoreError, match="a decision of the kind Dreamt cannot be forgotten"):
        redacted(trail, going, b"")


def test_words_that_two_languages_stem_otherwise_are_compared_in_that_of_the_text_that_may_tell_of_them() -> None:
    gone = (
        "I like figs. The boat is mine. Peux-tu m'aider avec le bateau ? We saw a kite on the lake. The dog came back."
        " J'adore the kite."
    )
    french = "J'habite à Lyon avec ma sœur Anna, et je bois le café."
    english = "Can you help me with the garden, the house, the shed and the fence?"
    traces = Traces([gone], lambda: (french, english))
    assert not traces.in_(f"alice says: {french} alice says: {english} alice says: I'm in the house!")
    assert traces.in_(f"alice says: {french} alice says: {english} alice says: I'm in the bateau!")
    assert traces.in_("Elle adore cela avec lui.")
    assert not Traces(["Ma sœur est déjà là."], lambda: ("Elle y vit avec ma sœur, déjà.",)).in_("ma sœur, déjà")
    mixed = f"{french} I live in Lyon with my sister. For dinner we had soup and bread, then figs and tea."
    traces = Traces(
        [f"Can you help me with the shed? I work as a nurse. {french.replace('Lyon', 'Oslo')}"], lambda: [mixed]
    )
    assert not traces.in_(f"alice: {french}")
    assert traces.in_(f"alice: {french.replace('Lyon', 'Oslo')}")
    for said in ("Ich sah die Zorblaxhäuser, und es war schön.", "We saw the lac d'Zorblaxhaus, au bord de l'eau."):
        assert Traces([said], lambda: ("The house is mine.",)).in_("zorblaxhaus")
        assert not Traces([said], near=[said.lower()]).in_("zorblaxhaus")
    assert Traces(["J'habite au bord de l'Zorblaxe."]).in_("Herons of Zorblaxe")


def test_nothing_is_forgotten_by_a_log_that_cannot_be_read(opened: Opener, place: Place) -> None:
    alice = opened().of("alice")
    page = alice.add("I live in Lyon.", "Since when?")
    alice.settle()
    (change,) = rows(place(), "SELECT no, decisions FROM change WHERE cause = 'annotation'")
    told = json.dumps([*json.loads(change["decisions"]), ["Dreamt", {"page_id": page, "text": "of Lyon"}]])
    meddle(place(), f"UPDATE change SET decisions = '{told}' WHERE no = {change['no']}")
    tables = [table.name for table in schema.OWNED]
    before = [rows(place(), f"SELECT * FROM {table}") for table in tables]
    with pytest.raises(StoreError):
        alice.forget(page=page)
    assert [rows(place(), f"SELECT * FROM {table}") for table in tables] == before
    assert alice.page(page).query == "I live in Lyon."
