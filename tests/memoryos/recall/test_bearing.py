"""Which facts are told with a query, with the real embedder: the few that bear on it, and none with others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from embermem import Memory, OwnerMemory

SAID = (
    "Hi, I'm Ann. I live in Ghent and work as a nurse.",
    "I'm allergic to peanuts.",
    "I'm vegetarian.",
    "I want to learn Italian.",
    "My sister Ana lives in Oslo.",
    "We have a dog named Rex.",
    "I plan to visit Rome in July 2027.",
    "I love hiking in the Alps.",
    "I watched a film about whales yesterday.",
    "My back hurts, I cannot lift heavy things.",
    "I'm on a budget of 300 euros this month.",
)
UNRELATED = (
    "Who wrote Hamlet?",
    "What is the capital of Peru?",
    "Translate 'good morning' into Danish.",
    "Why is the sky blue?",
    "How does a diesel engine work?",
    "What's 17 times 23?",
    "Write a haiku about rain.",
)
FOOD = (
    "What should I order at the Thai place?",
    "What could I bring to the potluck?",
    "My in-laws invite us for Sunday roast, anything to watch out for?",
    "What should I put on the grill?",
    "Is pesto okay for me?",
    "I'm hungry",
    "今晚吃什么好？",
)


@pytest.fixture(scope="module")
def ann(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnerMemory]:
    path = Path(tmp_path_factory.mktemp("bearing") / "m.db")
    with Memory(path, embedder="e5", background=False) as memory:
        ann = memory.of("ann")
        for text in SAID:
            ann.add(text, "I see.")
        ann.settle()
        yield ann


def told(ann: OwnerMemory, query: str) -> list[str]:
    return [fact.text for fact in ann.recall(query, budget=400).facts]


def test_a_query_of_other_matters_gets_no_fact_and_one_about_food_gets_what_is_not_eaten(ann: OwnerMemory) -> None:
    wrong = [query for query in UNRELATED if (told(ann, query)) != ([])]
    assert wrong == []

    wrong = [
        query for query in FOOD if not ({"Ann is allergic to peanuts", "Ann is vegetarian"} <= {*told(ann, query)})
    ]
    assert wrong == []


def test_what_is_asked_for_comes_first_and_who_asks_about_himself_does_not_hear_of_others(ann: OwnerMemory) -> None:
    wrong = [
        (query, first)
        for query, first in (
            ("Where do I live?", "Ann lives in Ghent"),
            ("Where does my sister live?", "Ana lives in Oslo"),
            ("What is my job?", "Ann works as a nurse"),
            ("Do I have any pets?", "Ann has a dog named Rex"),
            ("Which laptop should I buy?", "Ann is on a budget of 300 euros"),
            ("Who am I?", "Ann is called Ann"),
        )
        if (told(ann, query)[:1]) != ([first])
    ]
    assert wrong == []

    assert told(ann, "Where do I live?") == ["Ann lives in Ghent"]


def test_who_asks_for_one_relative_is_not_told_of_another(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", embedder="e5", background=False) as memory:
        ann = memory.of("ann")
        for text in ("My colleague is called Bob.", "My boss is called Tess.", "My brother Tom lives in Rome."):
            ann.add(text, "I see.")
        ann.settle()
        assert [fact for fact in told(ann, "Who is my boss?") if "Bob" in fact or "Tom" in fact] == []
        assert any("Tess" in fact for fact in told(ann, "Who is my boss?"))
