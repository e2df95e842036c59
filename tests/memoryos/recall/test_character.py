from __future__ import annotations

from talking import START, Line, snapshot

from embermem.core.config import load
from embermem.core.types import Context, Persona, PersonRelation, Relation, Source, Trait, UtteranceId
from embermem.index.tokens import counter
from embermem.memoryos.recall.retrieval import Query, recall

SAID = [Line("I play the cello every single evening after work in the old mill.")]


def trait(dimension: str, level: float, confidence: float = 0.5) -> Trait:
    return Trait(
        dimension=dimension,
        category="interest",
        level=level,
        confidence=confidence,
        pole="likes" if level > 0 else "dislikes",
        sources=(Source(seq=1, utterance_id=UtteranceId("u1")),),
        recorded_at=START,
    )


TRAITS = (trait("music", 0.6), trait("gaming", -0.4), trait("pets", 0.6, 0.9))


def told(query: str, traits: tuple[Trait, ...] = TRAITS, budget: int = 400, **chosen: str) -> str:
    speaks = PersonRelation(one="Alice", relation=Relation.SPEAKS, other="user", holds=True)
    known = Persona(traits=traits, relations=(speaks,))
    made: Context = recall(
        snapshot(SAID, persona=known), Query(text=query, budget=budget), load(**chosen), counter("words")
    )
    return next((line for line in made.text.splitlines() if line.startswith("traits: ")), "")


def test_traits_are_told_where_they_bear_on_the_query() -> None:
    wrong = [
        (query, line)
        for query, line in (
            ("What kind of person am I?", "traits: pets likes +0.6; music likes +0.6; gaming dislikes -0.4"),
            ("Which concert should I go to?", "traits: music likes +0.6"),
            ("我是什么样的人？", "traits: pets likes +0.6; music likes +0.6; gaming dislikes -0.4"),
            ("What is my address?", ""),
            ("What did the doctor say?", ""),
        )
        if (told(query)) != (line)
    ]
    assert wrong == []

    assert told("What kind of person am I?", budget=5) == ""

    assert told("What kind of person am I?", without="long_term") == ""
