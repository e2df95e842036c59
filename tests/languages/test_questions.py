"""What kind of answer a query asks for, in English and Chinese."""

from __future__ import annotations

import re
from collections.abc import Callable

from embermem.languages import named
from embermem.languages import questions as asked

KINDS: tuple[tuple[Callable[[str], bool], tuple[str, ...], tuple[str, ...]], ...] = (
    (
        asked.asks_for_several,
        ("Which books has she read?", "How many?", "哪些书？", "去过哪几个地方", "所有的爱好", "列出来"),
        ("Where does she live?", "谁养猫？", "他住在哪里"),
    ),
    (
        asked.asks_for_first,
        ("What was my first job?", "How did it look at the beginning?", "我第一次去是哪里？"),
        ("What is her first name?", "Who gave first aid?", "他姓什么？"),
    ),
    (
        asked.asks_for_last,
        ("When did she last climb?", "What is my latest recipe?", "上次见面聊了什么？"),
        ("What did we do last week?", "Where did I go last summer?", "上周做了什么？"),
    ),
    (
        asked.asks_for_order,
        ("Which came first, the fair or the exam?", "In which order did I visit the three museums?",
         "Did I buy the kayak before I sold the bike?", "What did I plant earlier, the roses or the beans?",
         "我先学的法语还是先学的德语？"),
        (),
    ),
    (
        asked.asks_for_count,
        ("How many times did I swim?", "How often was she ill?", "我一共去过几次医院？"),
        ("How many hours does the trip take?", "How old is she?", "他多高？"),  # an amount
    ),
    (
        asked.asks_to_compare,
        ("Is the flat cheaper than the house?", "What is the difference between the two plans?",
         "Which is warmer, the tent or the hut?", "新房子比旧房子大吗？"),
        (),
    ),
    (
        asked.asks_for_advice,
        ("What should I cook on Sunday?", "Any ideas for her birthday?", "晚饭吃什么好？"),
        (),
    ),
)  # fmt: skip
"""Of each kind of question, texts that are one and texts that are none."""


def test_a_question_is_known_by_what_it_asks_for() -> None:
    for is_one, yes, no in KINDS:
        assert [text for text in yes if not is_one(text)] == [], is_one
        assert [text for text in no if is_one(text)] == [], is_one


def test_a_plain_question_asks_for_nothing_that_needs_more_than_one_turn() -> None:
    for query in ["Where does she live?", "When did Ann move?", "他住在哪里"]:
        assert not any(is_one(query) for is_one, _, _ in KINDS[4:])


def test_the_parts_of_a_question_are_what_it_names_beside_each_other() -> None:
    assert asked.parts_asked("Which came first, the fair or the exam?") == ("Which came first", "the fair", "the exam?")
    assert asked.parts_asked("我先学的法语还是先学的德语？") == ("我先学的法语", "先学的德语？")
    assert asked.parts_asked("Where does she live?") == ("Where does she live?",)


def test_what_a_question_names_as_the_beginning_or_the_end_of_a_time() -> None:
    assert asked.happened_after("What have I read since I moved to the coast?") == "I moved to the coast"
    assert asked.happened_before("What did we discuss before the wedding?") == "the wedding"
    assert asked.happened_between("What happened between the fair and the exam?") == ("the fair", "the exam")
    assert asked.happened_after("我搬家以后做了什么？") == "我搬家"
    assert asked.happened_after("Where does she live?") is None


def test_a_question_needs_more_than_one_turn_in_french_spanish_and_german() -> None:
    cases: list[tuple[str, tuple[str, ...]]] = [
        ("first", ("Était-ce la première fois ?", "¿Fue la primera vez?", "War das das erste Mal?")),
        ("last", ("Quelle était la dernière fois ?", "¿Cuándo fue la última vez?", "Wo war ich zuletzt?")),
        ("order", ("Dans quel ordre ?", "¿En qué orden lo hice?", "In welcher Reihenfolge war das?")),
        ("count", ("Combien de fois ai-je couru ?", "¿Cuántas veces he corrido?", "Wie oft bin ich gelaufen?")),
        ("compare", ("Laquelle est la plus chère ?", "¿Cuál es más caro?", "Welches kostet mehr?")),
    ]
    for field, queries in cases:
        for code, query in zip(("fr", "es", "de"), queries, strict=True):
            assert re.search(getattr(named(code).questions, field), query, re.IGNORECASE), query
    amounts = {"fr": "Combien de jours ai-je marché ?", "es": "¿Cuántos días fueron?", "de": "Wie viele Tage waren es?"}
    for code, query in amounts.items():  # of a unit, which counts no cases
        assert not re.search(named(code).questions.count, query, re.IGNORECASE), query
