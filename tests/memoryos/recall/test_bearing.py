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
    "How do I reverse a list in Python?",
    "What is the capital of Peru?",
    "Translate 'good morning' into Danish.",
    "Why is the sky blue?",
    "When did the Roman Empire fall?",
    "How does a diesel engine work?",
    "What's 17 times 23?",
    "Can you fix this SQL query?",
    "Which planet has most moons?",
    "Write a haiku about rain.",
    "为什么天是蓝的？",
)
FOOD = (
    "What should I order at the Thai place?",
    "Any ideas for tonight's table?",
    "What could I bring to the potluck?",
    "Suggest something for breakfast.",
    "My in-laws invite us for Sunday roast, anything to watch out for?",
    "What should I put on the grill?",
    "I need a quick lunch before the gym",
    "Plan a menu for the kids' birthday",
    "Is pesto okay for me?",
    "What can I take along for the picnic?",
    "I'm hungry",
    "今晚吃什么好？",
)


@pytest.fixture(scope="module")
def ann(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnerMemory]:
    path = Path(tmp_path_factory.mktemp("bearing") / "m.db")
    with Memory(path, embedder="minilm", background=False) as memory:
        ann = memory.of("ann")
        for text in SAID:
            ann.add(text, "I see.")
        ann.settle()
        yield ann


def told(ann: OwnerMemory, query: str) -> list[str]:
    return [fact.text for fact in ann.recall(query, budget=400).facts]


def test_a_query_of_other_matters_gets_no_fact_goal_or_limit(ann: OwnerMemory) -> None:
    wrong = [query for query in UNRELATED if (told(ann, query)) != ([])]
    assert wrong == []


def test_a_query_about_food_gets_what_is_not_eaten_however_it_is_worded(ann: OwnerMemory) -> None:
    wrong = [
        query for query in FOOD if not ({"Ann is allergic to peanuts", "Ann is vegetarian"} <= {*told(ann, query)})
    ]
    assert wrong == []


def test_what_is_asked_for_comes_first(ann: OwnerMemory) -> None:
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


def test_who_asks_about_himself_does_not_hear_where_others_live(ann: OwnerMemory) -> None:
    assert told(ann, "Where do I live?") == ["Ann lives in Ghent"]
