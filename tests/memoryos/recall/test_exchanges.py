from __future__ import annotations

from talking import Line, fact, scoped, snapshot

from embermem.core.config import load
from embermem.core.types import Persona, Role, Scope, ThreadId
from embermem.index.query_context import View
from embermem.memoryos.recall.exchanges import Exchanges, completing, ends_in_question, statement_of
from embermem.memoryos.recall.retrieval import Query

TALK = [
    Line("I saw so many birds along the river this spring. Which bird do you like best?", speaker="Bob"),
    Line("The heron. And you?"),
    Line("The owl, since I was a small child in the green hills of the north.", speaker="Bob"),
    Line("One of them called behind our old mill every winter night.", speaker="Bob"),
    Line("Wow, that's great!"),
]


def exchanges(
    lines: list[Line], query: str = "the mill", scope: Scope | None = None, shown: str | None = None
) -> Exchanges:
    asked = Query(text=query, shown=frozenset({ThreadId(shown)} if shown else ()))
    return Exchanges(View(scoped(snapshot(lines), scope), asked, load()))


def test_a_question_comes_with_its_answer_of_the_next_other_speaker_in_scope() -> None:
    wrong = [
        (row, together)
        for row, together in (
            (0, (0, 1, 2)),  # the answer asks in turn
            (1, (0, 1, 2)),  # two words say nothing without their question
            (2, (2,)),
            (3, (3,)),
            (4, (4,)),
        )
        if (exchanges(TALK).of(row)) != (together)
    ]
    assert wrong == []

    lines = [
        Line("Which bird?", speaker="Bob"),
        Line("Elsewhere", thread="s2"),
        Line("I mean here.", speaker="Bob"),
        Line("A heron."),
    ]
    assert exchanges(lines).answer_to(0) == 3
    assert exchanges(lines[:3]).answer_to(0) is None

    assert exchanges(TALK, scope=Scope(before_seq=2)).of(0) == (0,)
    hidden = [TALK[0], Line("The heron.", role=Role.ASSISTANT)]
    assert exchanges(hidden, shown="s1").of(0) == (0,)

    assert completing(View(snapshot(TALK), Query(text="the mill"), load()), [0, 1]) == (0, 1, 2)


def test_few_content_words_say_little_without_a_word_of_the_query_or_a_fact() -> None:
    for text, short in (
        ("Wow, that's great!", True),
        ("Thanks, Bob! You too.", True),
        ("A heron stood in the reeds behind the old mill.", False),
        ("谢谢你！太好了", True),
        ("我们上个月从杭州搬到苏州的新房子，离公园和图书馆很近", False),
    ):
        lines = [Line(text), Line("Yes.", speaker="Bob")]
        assert exchanges(lines).is_short(0) is short

    lines = [Line("The old mill!"), Line("I'm vegan."), Line("Great, thanks!")]
    known = Persona(facts=(fact("f", "is vegan", 2),))
    made = Exchanges(View(snapshot(lines, persona=known), Query(text="the mill"), load()))
    assert [made.says_something(row) for row in range(3)] == [True, True, False]

    for text, statement in (
        ("I moved in May. What about you?", "I moved in May."),
        ("I moved in May. Really? And you? [photo: a door]", "I moved in May."),
        ("And you? 😊", ""),
        ("我搬家了。你呢？", "我搬家了。"),
    ):
        assert ends_in_question(text)
        assert statement_of(text) == statement

    assert not ends_in_question("Which bird? I mean the one behind the mill.")
