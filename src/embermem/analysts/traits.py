"""What a plain statement says of a few of the 90 traits."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cache

from embermem import languages
from embermem.core.types import FactProposal, TraitProposal
from embermem.languages.language import normal_form
from embermem.languages.words import unspaced

_LIKES = 0.6
"""One plain "I like it": well above neutral, short of the pole."""
_SELF_STATED = 0.8
_CONFIDENCE = 0.5
"""One statement, read by rule; the long-term memory adds up what repeats."""

_POSITIVE = frozenset({"likes", "hobby", "plays", "collects", "learns", "has_pet"})


def traits_of(facts: tuple[FactProposal, ...], speakers: Collection[str]) -> tuple[TraitProposal, ...]:
    """What facts about these speakers say of their traits: one proposal for each statement and dimension."""
    return tuple(t for fact in facts if fact.subject in speakers and not fact.retracts for t in _of_fact(fact))


def _of_fact(fact: FactProposal) -> Iterator[TraitProposal]:
    if fact.attribute == "temperament":
        pole = _temperaments().get(fact.value.lower())
        if pole is not None:
            yield _proposal("extraversion", pole * _SELF_STATED, fact)
    elif fact.attribute in _POSITIVE:
        for dimension in sorted(_dimensions(fact.value, whole=False)):
            yield _proposal(dimension, _LIKES, fact)
    elif fact.attribute == "dislikes":
        for dimension in sorted(_dimensions(fact.value, whole=True)):
            yield _proposal(dimension, -_LIKES, fact)


def _proposal(dimension: str, level: float, fact: FactProposal) -> TraitProposal:
    return TraitProposal(
        dimension=dimension, level=level, confidence=_CONFIDENCE, sources=fact.sources, subject=fact.subject
    )


@cache
def _temperaments() -> dict[str, float]:
    return languages.merged(lambda one: one.temperaments)


@cache
def _lexicon() -> dict[str, str]:
    return languages.merged(lambda one: one.interests)


def has_words(dimension: str) -> bool:
    """Whether there are words for an interest in the dimension."""
    return dimension in _lexicon().values()


def bears_on(dimension: str, text: str) -> bool:
    """Whether a text holds a word for an interest in the dimension."""
    return dimension in _dimensions(text, whole=False)


def _dimensions(value: str, *, whole: bool) -> set[str]:
    """The interests named in a value; with `whole`, only if the value is nothing but that interest.

    "I hate horror films" says nothing against films, while "I love jazz records" speaks for music.
    """
    lexicon = _lexicon()
    normal = normal_form(languages.spelled(value), value)
    if whole:
        return {lexicon[normal]} if normal in lexicon else set()
    if unspaced(value):
        return {dimension for word, dimension in lexicon.items() if unspaced(word) and word in value}
    tokens = normal.split()
    spans = [" ".join(tokens[i : i + n]) for n in (3, 2, 1) for i in range(len(tokens) - n + 1)]
    found: set[str] = set()
    for span in spans:
        if span in lexicon and not any(span in longer and span != longer for longer in spans if longer in lexicon):
            found.add(lexicon[span])
    return found
