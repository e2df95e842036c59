"""Of two statements of one matter the newer comes first; who asks for advice hears of wishes first."""

from __future__ import annotations

from dataclasses import replace

from talking import Line, fact, snapshot, unit

from embermem.core.config import load
from embermem.core.types import Persona, Role
from embermem.index.query_context import Query
from embermem.index.tokens import counter
from embermem.memoryos.recall.retrieval import rank, recall
from embermem.protocols import Needs
from table_reader import TableReader

NEAR, FAR = unit(1.0, 0.0), (0.0, 0.0, 1.0)
LINES = [
    Line("I work at the bank in the old town.", thread="a", vector=(1.0, 0.0)),
    Line("My brother plays chess.", thread="b", day=1, vector=FAR),
    Line("I work at the garden centre, which pays me well.", thread="c", day=9, vector=(0.8, 0.6)),
]
OF_TWO = [
    Line("I work at the bank in the old town.", thread="a", vector=(1.0, 0.0)),
    Line("I work at the garden centre.", speaker="Ben", thread="c", day=9, vector=(0.8, 0.6)),
]
READER = TableReader(
    "table",
    {
        LINES[0].text: ("works_at", "the bank"),
        LINES[1].text: ("does", "plays chess"),
        LINES[2].text: ("works_at", "the garden centre"),
        OF_TWO[1].text: ("works_at", "the garden centre"),
    },
)
NOTHING = Needs(advice=0.0, now=0.0, several=0.0, past=0.0, nothing=0.0, tells=0.0)
ASKED = Query(text="Where do I work?", vector=NEAR, budget=300)


def first(query: Query) -> str:
    return rank(snapshot(LINES), query, load()).hits[0].utterance.text


def test_where_something_is_asked_for_as_it_is_now_the_newest_comes_first_and_what_is_older_is_marked() -> None:
    assert "bank" in first(ASKED)
    assert "bank" in first(replace(ASKED, needs=replace(NOTHING, past=1.0)))
    now = replace(ASKED, needs=replace(NOTHING, now=1.0))
    assert "garden centre" in first(now)
    assert "bank" in first(replace(now, text="Where did I work before?"))
    assert "bank" in first(replace(now, text="Which places do I work at? List all of them."))

    assert "(older" not in recall(snapshot(LINES), now, load(), counter("words")).text  # read, neither states a place
    text = recall(snapshot(LINES), replace(now, reader=READER), load(), counter("words")).text
    assert "#1 Alice (older, see #3): I work at the bank" in text
    assert "#3 Alice: I work at the garden centre" in text
    assert "#2 Alice (older" not in text
    of_two = recall(snapshot(OF_TWO), replace(now, reader=READER), load(), counter("words")).text
    assert "(older" not in of_two


def test_what_a_fact_took_the_place_of_says_so_whatever_is_asked() -> None:
    new = replace(fact("new", "works at the garden centre", 3), attribute="works_at")
    old = replace(fact("old", "works at the bank", 1), superseded_by=new.id, retired_at=new.recorded_at)
    memory = replace(snapshot(LINES, persona=Persona(facts=(new,))), ended_facts=(old,))
    text = recall(memory, ASKED, load(), counter("words")).text
    assert "#1 Alice (older, see #3): I work at the bank" in text


def test_what_the_state_says_comes_before_likeness_and_two_are_never_older_than_each_other() -> None:
    lines = [replace(LINES[0], day=12, thread="late"), LINES[2]]  # what took its place was said on an earlier day
    new = replace(fact("new", "works at the garden centre", 2), attribute="works_at")
    old = replace(fact("old", "works at the bank", 1), superseded_by=new.id, retired_at=new.recorded_at)
    memory = replace(snapshot(lines, persona=Persona(facts=(new,))), ended_facts=(old,))
    text = recall(memory, replace(ASKED, needs=replace(NOTHING, now=1.0)), load(), counter("words")).text
    assert "#1 Alice (older, see #2): I work at the bank" in text
    assert "#2 Alice: I work at the garden centre" in text


def test_a_wish_that_holds_counts_more_for_who_asks_for_advice() -> None:
    lines = [
        Line("Rome is full of people at Easter.", vector=(1.0, 0.0)),
        Line("No gluten.", vector=(0.7, 0.7), thread="b"),
    ]
    wish = replace(fact("w", "eats no gluten", 2), attribute="diet")
    memory = snapshot(lines, persona=Persona(facts=(wish,)))
    asked = Query(text="Where shall I eat in Rome?", vector=NEAR, budget=300)
    assert "Rome" in rank(memory, asked, load()).hits[0].utterance.text
    hits = rank(memory, replace(asked, needs=replace(NOTHING, advice=1.0)), load(recall_wishes=9.0)).hits
    assert "gluten" in hits[0].utterance.text
    assert "wishes" in hits[0].channels


def test_what_bears_on_a_request_for_advice_by_a_trained_likeness_counts_more_unless_the_agent_said_it() -> None:
    lines = [
        Line("Rome is full of people at Easter.", vector=(1.0, 0.0)),
        Line("Bread makes me ill.", vector=(0.0, 1.0), thread="b"),
        Line("Bread is good for you.", "Bot", vector=(0.0, 1.0), thread="c", role=Role.ASSISTANT),
    ]
    asked = Query(text="Where shall I eat in Rome?", vector=NEAR, budget=300, wishes=9.0 * unit(0.0, 1.0))
    assert "Rome" in rank(snapshot(lines), asked, load()).hits[0].utterance.text
    hits = rank(snapshot(lines), replace(asked, needs=replace(NOTHING, advice=1.0)), load()).hits
    assert hits[0].utterance.text == "Bread makes me ill."
    by_text = {hit.utterance.text: hit.channels["wishes"].raw for hit in hits}
    assert by_text["Bread is good for you."] == 0.0 < by_text["Bread makes me ill."]
