"""Facts as evidence for the utterances they rest on."""

from __future__ import annotations

from talking import Line, fact, snapshot

from embermem.core.config import load
from embermem.core.types import Persona, Scope, ThreadId
from embermem.memoryos.recall.retrieval import Query, rank

DEFAULT = load()
LINES = [
    *(Line(f"nothing of note on walk {i}", thread=f"t{i}") for i in range(20)),
    Line("That one, in the end.", thread="x"),
]
BOUGHT = fact("f1", "bought a red kayak", 21)


def test_an_utterance_without_a_word_of_the_query_is_found_by_its_fact_that_may_be_seen() -> None:
    query = Query(text="Which kayak did she buy?")
    plain = rank(snapshot(LINES), query, DEFAULT)
    noted = rank(snapshot(LINES, persona=Persona(facts=(BOUGHT,))), query, DEFAULT)
    assert plain.hits[0].utterance.text != "That one, in the end."
    assert noted.hits[0].utterance.text == "That one, in the end."
    share = noted.hits[0].channels["noted"]
    assert share.raw == share.normalised == 1.0  # half of the query's words, each counted twice
    assert share.weight == DEFAULT.recall_noted

    told = Persona(facts=(fact("f1", "Alice met Bo", 21),))
    ranking = rank(snapshot(LINES, persona=told), Query(text="What of Alice?"), DEFAULT)
    assert all(hit.channels["noted"].raw == 0.0 for hit in ranking.hits)

    memory = snapshot(LINES, persona=Persona(facts=(fact("f1", "bought a red kayak", 20, 21),)))
    for scope in (Scope(before_seq=21), Scope(not_threads=frozenset({ThreadId("x")}))):
        ranking = rank(memory, Query(text="Which kayak did she buy?", scope=scope), DEFAULT)
        assert all(hit.channels["noted"].raw == 0.0 for hit in ranking.hits)
