"""Questions that one utterance does not answer: what the plan of their evidence adds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from talking import Line, fact, snapshot, unit

from embermem.core.config import load
from embermem.core.types import Context, Persona, Role
from embermem.index.query_context import Query, View
from embermem.index.snapshot import Snapshot
from embermem.index.tokens import counter
from embermem.memoryos.recall.evidence_plan import needs_several, searched_alone
from embermem.memoryos.recall.preferences import preferences
from embermem.memoryos.recall.retrieval import rank, recall

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

BIRDS = [Line(f"I counted {n} herons by the river", thread=f"b{n}", day=n) for n in range(20, 40)]


def found(lines: Sequence[Line], query: Query | str, k: int = 3, **chosen: Any) -> list[str]:
    asked = Query(text=query) if isinstance(query, str) else query
    return [hit.utterance.text for hit in rank(snapshot(lines), asked, load(**chosen)).hits[:k]]


def told(lines: Sequence[Line], query: str) -> Context:
    return recall(snapshot(lines), Query(text=query), load(), counter("words"))


def stated(memory: Snapshot, query: Query) -> Floats | None:
    return preferences(View(memory, query, load()), np.zeros(memory.n))


def test_an_order_or_several_persons_need_what_was_said_of_each() -> None:
    lines = [
        *(Line(f"The fair in the old town was lovely, part {n}", thread=f"f{n}", day=n) for n in range(6)),
        Line("I sat the exam", thread="e", day=9),
        *BIRDS,
    ]
    query = "Which came first, the fair in the old town or the exam?"
    assert "I sat the exam" in found(lines, query, 2)

    lines = [
        *(Line(f"I read a good novel about chess {n}", "Ana", thread=f"a{n}", day=n) for n in range(8)),
        Line("I read about chess", "Ben", thread="c", day=9),
        *BIRDS,
    ]
    assert any("read about chess" in one for one in found(lines, "Have Ana and Ben both read about chess?", 2))

    for query, first in (("Where did I first climb?", "lake 0"), ("Where did I last climb?", "lake 4")):
        lines = [Line(f"I climbed by the lake {n}", thread=f"s{n}", day=n) for n in (2, 0, 4, 1, 3)]
        assert found([*lines, *BIRDS], query, 1) == [f"I climbed by the {first}"]


def test_what_was_said_on_the_right_side_of_an_event_or_date_counts_more_and_is_noted() -> None:
    lines = [
        *(Line(f"We ate dumplings {n}", thread=f"d{n}", day=n) for n in range(4)),
        Line("Today I moved to Bergen", thread="m", day=5),
        *(Line(f"We ate dumplings {n}", thread=f"d{n}", day=n) for n in range(6, 9)),
        *BIRDS,
    ]
    since = found(lines, "When did we eat dumplings since I moved to Bergen?", 3)
    before = found(lines, "When did we eat dumplings before I moved to Bergen?", 4)
    assert {one[-1] for one in since if "dumplings" in one} <= {"6", "7", "8"}
    assert {one[-1] for one in before if "dumplings" in one} <= {"0", "1", "2", "3"}

    lines = [Line(f"We ate dumplings {n}", thread=f"d{n}", day=30 * n) for n in range(4)]
    since = found([*lines, *BIRDS], "How did the dumplings taste since July 2026?", 2)
    assert {*since} == {"We ate dumplings 2", "We ate dumplings 3"}

    lines = [Line("The fair was lovely"), Line("I sat the exam", day=3), *BIRDS]
    context = told(lines, "Which came first, the fair or the exam?")
    assert "searched for each by itself: the fair; the exam?" in context.notes
    assert "sides" in context.hits[0].channels


def test_a_question_of_one_step_and_an_empty_memory_need_no_plan() -> None:
    lines = [Line("The fair was lovely"), Line("I sat the exam", day=3), *BIRDS]
    context = told(lines, "Where was the fair?")
    assert not {"sides", "around", "extreme", "preference"} & set(context.hits[0].channels)
    assert not needs_several("Where was the fair?")
    assert searched_alone("Where was the fair?") == ()

    for query in ("Which came first, A fair or an exam?", "What did I do since the fair?", "What should I cook?"):
        assert told([], query).text == ""


def test_a_preference_of_the_theme_bears_on_advice_the_agent_s_by_half() -> None:
    lines = [Line("I'm allergic to nuts", thread="n"), *BIRDS, Line("The party was loud", thread="p")]
    query = "What should I cook for the party?"
    assert found(lines, query, 1) == ["I'm allergic to nuts"]
    assert found(lines, query, 1, recall_preference=0.0) == ["The party was loud"]

    lines = [
        Line("I can't stand it, it tastes of soap", thread="a", vector=(0, 1)),
        Line("I can't stand my neighbour's drums", thread="b", vector=(0, 0, 1)),
        *BIRDS,
    ]
    cooking = Query(text="What should I cook?", vector=unit(1), themes=frozenset({"food"}), statements=unit(0, 1)[None])
    said = stated(snapshot(lines), cooking)
    assert said is not None
    assert said[0] > 0.5 > said[1] == 0.0
    assert not said[2:].any()

    persona = Persona(facts=(replace(fact("f1", "is allergic to nuts", 1), attribute="allergic_to"),))
    memory = snapshot([Line("Hazelnuts send me to the hospital"), *BIRDS], persona=persona)
    said = stated(memory, Query(text="What should I cook?"))
    assert said is not None
    assert np.flatnonzero(said).tolist() == [0]

    lines = [Line("Which soup do you love?"), *BIRDS]
    assert stated(snapshot(lines), Query(text="What should I cook?")) is None
    assert stated(snapshot(lines), Query(text="Where was the fair?")) is None

    lines = [Line("I love soup", role=Role.ASSISTANT), Line("I love rice"), *BIRDS]
    said = stated(snapshot(lines), Query(text="What should I cook?"))
    assert said is not None
    assert said[:3].tolist() == [0.5, 1.0, 0.0]
