"""What a plain statement says of a few of the 90 traits."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from functools import cache

from embermem.analysts.keywords import singular
from embermem.analysts.lexicon import read
from embermem.core.text import fold, has_cjk
from embermem.core.traits import dimensions_by_name
from embermem.core.types import FactProposal, TraitProposal

_LIKES = 0.6
"""One plain "I like it": well above neutral, short of the pole."""
_SELF_STATED = 0.8
_CONFIDENCE = 0.5
"""One statement, read by rule; the long-term memory adds up what repeats."""

_POSITIVE = frozenset({"likes", "hobby", "plays", "collects", "learns", "has_pet"})
_TEMPERAMENT = {
    "introvert": ("extraversion", -1.0), "introverted": ("extraversion", -1.0), "内向": ("extraversion", -1.0),
    "extrovert": ("extraversion", 1.0), "extroverted": ("extraversion", 1.0), "extravert": ("extraversion", 1.0),
    "extraverted": ("extraversion", 1.0), "outgoing person": ("extraversion", 1.0), "外向": ("extraversion", 1.0),
}  # fmt: skip


def traits_of(facts: tuple[FactProposal, ...]) -> tuple[TraitProposal, ...]:
    """What the user's facts say of traits: one proposal for each statement and dimension."""
    return tuple(t for fact in facts if fact.subject == "user" and not fact.retracts for t in _of_fact(fact))


def _of_fact(fact: FactProposal) -> Iterator[TraitProposal]:
    if fact.attribute == "temperament":
        found = _TEMPERAMENT.get(fact.value.lower())
        if found is not None:
            yield _proposal(found[0], found[1] * _SELF_STATED, fact)
    elif fact.attribute in _POSITIVE:
        for dimension in sorted(_dimensions(fact.value, whole=False)):
            yield _proposal(dimension, _LIKES, fact)
    elif fact.attribute == "dislikes":
        for dimension in sorted(_dimensions(fact.value, whole=True)):
            yield _proposal(dimension, -_LIKES, fact)


def _proposal(dimension: str, level: float, fact: FactProposal) -> TraitProposal:
    return TraitProposal(dimension=dimension, level=level, confidence=_CONFIDENCE, sources=fact.sources)


@cache
def _lexicon() -> dict[str, str]:
    known = dimensions_by_name()
    found: dict[str, str] = {}
    for row in csv.DictReader(read("interests.csv").splitlines()):
        if row["dimension"] not in known:
            raise ValueError(f"data/interests.csv names an unknown dimension: {row['dimension']}")
        for word in row["words"].split():
            found.setdefault(_normal(word.replace("_", " ")), row["dimension"])
    return found


def _normal(text: str) -> str:
    return " ".join(singular(w.strip(".,'\"")) for w in fold(text).split())


def _dimensions(value: str, *, whole: bool) -> set[str]:
    """The interests named in a value; with `whole`, only if the value is nothing but that interest.

    "I hate horror films" says nothing against films, while "I love jazz records" speaks for music.
    """
    lexicon = _lexicon()
    normal = _normal(value)
    if whole:
        return {lexicon[normal]} if normal in lexicon else set()
    if has_cjk(value):
        return {d for w, d in lexicon.items() if has_cjk(w) and w in value}
    tokens = normal.split()
    spans = [" ".join(tokens[i : i + n]) for n in (3, 2, 1) for i in range(len(tokens) - n + 1)]
    found: set[str] = set()
    for span in spans:
        if span in lexicon and not any(span in longer and span != longer for longer in spans if longer in lexicon):
            found.add(lexicon[span])
    return found
