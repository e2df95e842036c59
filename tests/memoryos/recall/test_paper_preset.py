"""The paper's retrieval (§3.4) against a case worked out by hand.

Segments: A (cos 1, J 0), B (cos 0, J 1/2), C (cos 0.6, J 0), and an archived one that would beat them all. With
m = 2: F(A) = 1, F(C) = 0.6, F(B) = 0.5, so A and C are taken and B is not.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from talking import Line, fact, profile, segment, snapshot, unit

from embermem.core import messages
from embermem.core.config import load
from embermem.core.types import About, Persona, Scope, Tier
from embermem.index.tokens import counter
from embermem.memoryos.people import People
from embermem.memoryos.recall.retrieval import Query, rank, recall

PAPER = load("paper", top_m=2, top_k=2, short_term_pages=2, top_facts=1)
ASKED = Query(text="heron", vector=unit(1), keywords=frozenset({"heron"}), budget=1)

LINES = [
    Line("a one", page="a1", vector=(1, 1), thread="s"),
    Line("a one answered", page="a1", vector=(1, -1), thread="s"),
    Line("a two", page="a2", vector=(0.6, 0.8), thread="s"),
    Line("b one", page="b1", vector=(1,), thread="s"),
    Line("c one", page="c1", vector=(0.8, 0.6), thread="s"),
    Line("old", page="z1", vector=(1,), thread="s"),
    Line("pending", page="w1", vector=(1,), thread="s"),
    Line("short one", page="n1", vector=(0.9, 0.1), thread="s"),
    Line("short two", page="n2", vector=(0, 1), thread="s"),
]
SEGMENTS = [
    segment("A", unit(1), ["tea"]),
    segment("B", unit(0, 1), ["heron", "tea"]),
    segment("C", unit(0.6, 0.8)),
    segment("Z", unit(1), ["heron"], archived=True),
]
PLACED = {"a1": "A", "a2": "A", "b1": "B", "c1": "C", "z1": "Z"}
PERSONA = Persona(
    profile=(profile("name", "Alice"),),
    facts=(fact("f", "likes tea", 9), fact("g", "saw a heron", 4)),
    agent_facts=(fact("h", "told of a marsh", 1, about=About.AGENT),),
)
MEMORY = snapshot(LINES, segments=SEGMENTS, placed=PLACED, persona=PERSONA)


def test_pages_come_by_their_cosine_and_keywords_out_of_the_best_segments() -> None:
    # a1: its mean vector is the query's, cosine 1. n1: 0.9/√0.82. c1: 0.8. a2: 0.6, third of k = 2. n2: 0.
    hits = rank(MEMORY, ASKED, PAPER).hits
    assert [hit.utterance.text for hit in hits] == ["a one", "a one answered", "short one", "c one", "short two"]
    assert [hit.score for hit in hits] == pytest.approx([1.0, 1.0, 0.9 / 0.82**0.5, 0.8, 0.0], abs=2e-3)
    assert [hit.tier for hit in hits] == [Tier.MID, Tier.MID, Tier.SHORT, Tier.MID, Tier.SHORT]
    assert hits[0].channels["segment"].raw == pytest.approx(1.0)
    assert hits[3].channels["segment"].raw == pytest.approx(0.6)

    texts = {hit.utterance.text for hit in rank(MEMORY, ASKED, PAPER).hits}
    assert texts.isdisjoint({"b one", "old", "pending", "a two"})

    # Without the cosine F(B) = 1/2 is the highest, A and C have 0.
    hits = rank(MEMORY, replace(ASKED, vector=None), replace(PAPER, top_m=1)).hits
    assert {"b one", "short one", "short two"} <= {hit.utterance.text for hit in hits}

    memory = snapshot(LINES, segments=SEGMENTS, placed={**PLACED, "n2": "B"})
    assert "short two" in {hit.utterance.text for hit in rank(memory, ASKED, PAPER).hits}


def test_the_best_facts_are_told_the_budget_is_ignored_and_scope_holds() -> None:
    assert [f.id for f, _ in rank(MEMORY, ASKED, PAPER).facts(People(messages.owner("ann", "default"), PERSONA))] == [
        "g",
        "h",
    ]

    context = recall(MEMORY, ASKED, PAPER, counter("words"))
    assert context.text.splitlines() == [
        "user: name Alice",
        "",
        "known:",
        "- Alice saw a heron [#4]",
        "- Alice told of a marsh [#1]",
        "",
        "2026-05-02 Sat:",
        "#1 Alice: a one",
        "#2 Alice: a one answered",
        "#5 Alice: c one",
        "#8 Alice: short one",
        "#9 Alice: short two",
    ]
    assert context.tokens == len(context.text.split()) > 1
    assert [hit.utterance.seq for hit in context.packed] == [1, 2, 5, 8, 9]

    hits = rank(MEMORY, replace(ASKED, scope=Scope(before_seq=8)), PAPER).hits
    assert [hit.utterance.seq for hit in hits][-1] < 8
    assert {hit.utterance.text for hit in hits} >= {"pending", "old"}, (
        "the newest pages within the scope are short-term"
    )
