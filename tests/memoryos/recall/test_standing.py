from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from talking import START, Line, fact, scoped, snapshot

from embermem import Memory
from embermem.core import messages
from embermem.core.attributes import attributes
from embermem.core.config import load
from embermem.core.types import About, Context, Fact, Persona, Scope, ThreadId
from embermem.index.query_context import View
from embermem.index.tokens import counter
from embermem.languages.questions import asks_of_the_past
from embermem.memoryos.people import People
from embermem.memoryos.recall.active_goals import standing
from embermem.memoryos.recall.retrieval import Query, recall

LATER = START + timedelta(days=30)
OWNER = messages.owner("alice", "default")
BURGER = "I'd love a burger tonight"
LIMITS = sorted(name for name, one in attributes().items() if one.standing == "limit")


def told(attribute: str, text: str, *seqs: int, since: datetime | None = START) -> Fact:
    return replace(fact(f"{attribute}-{text}", text, *seqs, since=since), attribute=attribute)


SLIMMER = told("wants_to", "wants to get slimmer", 1)
PEANUTS = told("allergic_to", "is allergic to peanuts", 2)
LIVES = told("lives_in", "lives in Oslo", 1)


def stands(
    facts: Sequence[Fact],
    query: str = BURGER,
    *,
    lines: int = 8,
    scope: Scope | None = None,
    at: datetime = LATER,
    **chosen: Any,
) -> list[str]:
    said = [Line(f"number {i} of the birds", thread=f"t{i}") for i in range(lines)]
    asked = Query(text=query, at=at)
    view = View(scoped(snapshot(said, persona=Persona(facts=tuple(facts))), scope), asked, load(**chosen))
    return [one.text for one in standing(view, People(OWNER, view.snapshot.persona))]


def recalled(facts: Sequence[Fact], query: str = BURGER, *, budget: int = 600, preset: str | None = None) -> Context:
    said = [Line(f"burger number {i}, and what else was said on that long evening", thread=f"t{i}") for i in range(60)]
    memory = snapshot(said, persona=Persona(facts=tuple(facts)))
    return recall(memory, Query(text=query, budget=budget, at=LATER), load(preset), counter("words"))


# ------------------------------------------------------------------------------------------ the paper's own case

GOALS = [
    ("I want to get slimmer.", "wants to get slimmer"),
    ("I'm trying to lose weight", "wants to lose weight"),
    ("I'm allergic to peanuts.", "is allergic to peanuts"),
    ("I must not eat gluten.", "avoids gluten"),
]


def test_what_the_user_wants_for_long_stands_beside_what_is_wanted_tonight(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", embedder="hashed", background=False) as memory:
        for n, (said, told) in enumerate(GOALS):
            alice = memory.of("alice", f"agent {n}")
            alice.add(said, "I see.", at="2026-05-02T10:00:00+00:00", thread="then")
            for i in range(8):
                alice.add(f"Tonight I saw film {i}.", "Was it good?", at="2026-05-20T10:00:00+00:00", thread="film")
            alice.settle()
            context = alice.recall(BURGER, at="2026-05-23T19:00:00+00:00", budget=300)
            in_chinese = alice.recall("今晚想吃汉堡", at="2026-05-23T19:00:00+00:00", budget=300)
            for made in (context, in_chinese):
                (one,) = made.facts
                assert one.text == f"alice {told}"
                # An utterance that says it in the same words takes its place.
                assert f"- alice {told}" in made.text or f"#1 alice: {said}" in made.text
            assert any(note.endswith(f"alice {told} (said 2026-05-02) [#1]") for note in context.explain().notes)

        alice = memory.of("alice", "given up")  # a goal that was given up stands no longer
        alice.add("I'm trying to lose weight.", "Good luck.", at="2026-05-02T10:00:00+00:00")
        alice.add("I don't want to lose weight any more.", "All right.", at="2026-05-09T10:00:00+00:00")
        alice.settle()
        assert alice.recall(BURGER, at="2026-05-23T19:00:00+00:00").facts == ()


# ----------------------------------------------------------------------------------------------- which facts stand


def test_the_query_decides_which_stand() -> None:
    wrong = [
        query
        for query in ("Why is the sky blue?", "How do I sort a list?", "为什么天是蓝的？", "Tell me a joke.")
        if (stands([SLIMMER, PEANUTS, told("budget", "is on a tight budget", 3)], query)) != ([])
    ]
    assert wrong == []

    facts = [
        told("prepares_for", "is preparing for bar exam", 1),
        told("afraid_of", "is afraid of heights", 2),
        told("budget", "is on a tight budget", 3),
        SLIMMER,
        PEANUTS,
    ]
    assert set(stands(facts)[:2]) == {PEANUTS.text, SLIMMER.text}
    assert stands(facts, "Which laptop shall I buy?")[0] == "is on a tight budget"
    assert stands(facts, "我想买手机")[0] == "is on a tight budget"
    assert stands([told("wants_to", "想减肥", 1), told("allergic_to", "对花生过敏", 2)], "今晚吃什么？")[:2] == [
        "对花生过敏",
        "想减肥",
    ]
    assert stands(facts, "Let's go bungee jumping")[0] == "is afraid of heights"

    assert SLIMMER.text in stands([SLIMMER, *(told(name, f"limit {name} of food", 2) for name in LIMITS)])


def test_of_equally_near_ones_the_newest_comes_first() -> None:
    facts = [told("budget", "is on a budget of 500 euros", 1), told("budget", "is on a budget of 300 euros", 2)]
    days = [Line("a", day=0, thread="a"), Line("b", day=200, thread="b")]
    view = View(
        snapshot(days, persona=Persona(facts=tuple(facts))),
        Query(text="Which laptop?", at=START + timedelta(300)),
        load(),
    )
    assert [one.text for one in standing(view, People(OWNER, view.snapshot.persona))] == [
        "is on a budget of 300 euros",
        "is on a budget of 500 euros",
    ]


def test_the_user_s_goals_and_limits_stand_while_they_hold_and_other_facts_do_not() -> None:
    assert stands([LIVES, SLIMMER, PEANUTS, told("likes", "likes tea", 1)]) == [PEANUTS.text, SLIMMER.text]

    sister = replace(PEANUTS, subject="sister Ana")
    agent = replace(fact("a", "cannot browse the web", 1, about=About.AGENT, subject="agent"), attribute="cannot")
    assert stands([sister, agent]) == []

    over = replace(SLIMMER, valid_to=LATER - timedelta(days=1))
    retired = replace(PEANUTS, retired_at=LATER)
    later = told("avoids", "avoids alcohol", 1, since=LATER + timedelta(days=1))
    assert stands([over, retired, later]) == []

    assert stands([SLIMMER, PEANUTS], at=START + timedelta(days=360)) == [PEANUTS.text, SLIMMER.text]
    assert stands([SLIMMER, PEANUTS], at=START + timedelta(days=3000)) == [PEANUTS.text]

    assert stands([SLIMMER, PEANUTS], scope=Scope(before_seq=2)) == [SLIMMER.text]
    assert stands([SLIMMER, PEANUTS], scope=Scope(not_threads=frozenset({ThreadId("t0")}))) == [PEANUTS.text]

    assert stands([told("allergic_to", "is allergic to nickel")]) == ["is allergic to nickel"]

    many = [told("avoids", f"avoids number {i}", 1) for i in range(9)]
    assert len(stands(many)) == 4
    assert len(stands(many, standing_facts=5)) == 5
    assert stands(many, standing_facts=0) == []


def test_a_question_about_the_past_needs_no_goal_and_what_is_to_be_decided_now_does() -> None:
    for query in (
        "When did I go to Rome?",
        "What did I say of the film?",
        "Where were we last week?",
        "Have I told you my name?",
        "我上次说过什么？",
    ):
        assert asks_of_the_past(query)
        assert stands([SLIMMER, PEANUTS], query) == []

    wrong = [
        query
        for query in (
            BURGER,
            "What shall I eat?",
            "Can you suggest a restaurant?",
            "I was hungry, so I had a burger.",
            "今晚吃什么？",
        )
        if asks_of_the_past(query)
    ]
    assert wrong == []


# -------------------------------------------------------------------------------------------------------- packing


def test_standing_facts_have_their_place_and_without_them_the_text_is_as_it_was() -> None:
    made = recalled([SLIMMER, PEANUTS])
    assert {one.id for one in made.facts} == {SLIMMER.id, PEANUTS.id}
    assert made.text.count("wants to get slimmer") == made.text.count("allergic to peanuts") == 1
    assert [note for note in made.notes if "bears on the query by its theme" in note] == [
        "bears on the query by its theme: The user is allergic to peanuts (said 2026-05-02) [#2]",
        "bears on the query by its theme: The user wants to get slimmer (said 2026-05-02) [#1]",
    ]

    made = recalled([SLIMMER, LIVES], preset="paper")
    assert {one.id for one in made.facts} == {SLIMMER.id, LIVES.id}
    assert made.notes == recalled([], preset="paper").notes

    said = [Line("the heron stood in the reeds", thread="a"), Line("a train left", thread="b")]
    memory = snapshot(said, persona=Persona(facts=(LIVES,)))
    asked = Query(text="the heron", at=datetime(2026, 6, 1, tzinfo=UTC))
    texts = {recall(memory, asked, load(standing_facts=n), counter("words")).text for n in (0, 3)}
    assert len(texts) == 1
