"""Clauses about a thing that matters to the speaker: "Painting helps me relax", "My rent is 900 euros a month"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from embermem.languages.en import verbs
from embermem.languages.en.clauses.boundaries import natural_end
from embermem.languages.en.clauses.tokens import Token, low
from embermem.languages.en.clauses.words import (
    BEFORE_CLAUSE,
    FUNCTION,
    KIN,
    PREPOSITIONS,
    PRONOUNS,
    THIRD,
    YOU,
    _set,
)

_VERBS: Final = _set(
    """is are was were isn't aren't wasn't 's has have made makes make gives give gave brings bring brought keeps keep
    kept helps help helped means mean meant matters matter inspires inspired reminds reminded motivates
    motivated taught teaches calms relaxes fuels energizes comforts changed symbolizes represents stresses
    worries scares encouraged encourages showed improved improves sounds works"""
)
_MINE: Final = _set("my me us our myself mine")
_NO_SUBJECT: Final = (
    PRONOUNS | THIRD | YOU | _set(
        """this that these those what who how why where when which all one some someone any anything nothing everything
    something mine me us both here hope guess thanks thank glad sounds sorry bad point question thought thoughts
    pleasure heart words name advice day let please yes no sure feedback encouragement more most much many
    kindness answer love if as so just with in on at for but and or because while although though since not it's
    that's first next last best part worst only favorite problem reason issue thing goal plan support message
    response suggestion suggestions idea ideas congrats congratulations good great"""
    )
)  # fmt: skip
_POINTS: Final = (
    PRONOUNS
    | THIRD
    | YOU
    | frozenset(("to", "than", "that", "who", "what", "if", "when", "how", "but", "so", "because"))
)
_MOST_SUBJECT = 7


_MOODS: Final = _set("mind memory patience brain head body energy mood stomach eyes nerves concern concerns")
_USUAL: Final = _set("usually always often never typically normally constantly")
"""What "my mind is …" says of more than the moment needs."""
_RULED: Final = _set(
    """name goal plan dream aim birthday nickname hobby hobbies major mother_tongue pronouns phone email"""
)
"""Subjects that the rules of facts read."""


class Stated(NamedTuple):
    """A clause about a thing: tokens[start:end], whose verb is at `at`, and the word or sign at which it ended."""

    start: int
    at: int
    end: int
    stopped: str


def about_things(sentence: Sequence[Token]) -> Stated | None:
    """The clause that opens a sentence, if its subject is a thing, and it or its predicate speaks of the speaker."""
    start = 0
    while start < len(sentence) and (
        sentence[start].low in BEFORE_CLAUSE or sentence[start].text == "," or _is_called(sentence, start)
    ):
        start += 1
    at = start
    while at < len(sentence) and at - start <= _MOST_SUBJECT:
        token = sentence[at]
        if not token.is_word and token.text not in ("'", "&", ","):
            return None
        if at > start and (token.low in _VERBS or _of_me(sentence, at)):
            break
        if token.low in (_NO_SUBJECT if at == start else _POINTS):
            return None
        at += 1
    else:
        return None
    subject = sentence[start:at]
    if not subject or subject[-1].low in (FUNCTION - {"yourself"}) | KIN | PREPOSITIONS or at + 1 >= len(sentence):
        return None
    if subject[0].low in ("a", "an", "every", "each", "another") or subject[-1].low in (
        "favorite",
        "favourite",
        "fave",
    ):
        return None
    if not subject[0].low.endswith("ing") and any(
        (v := verbs.verb(t.low)) is not None and "past" in v.forms for t in subject
    ):
        return None
    if (any(t.low in KIN or t.low.removesuffix("'s") in KIN for t in subject[:4]) and len(subject) < 4) or any(
        t.low in _RULED for t in subject
    ):
        return None
    if any(t.low in _MOODS for t in subject) and not any(t.low in _USUAL for t in sentence[at:]):
        return None
    end, stopped = natural_end(sentence, at)
    if stopped in ("?", "if", "unless", "\ue000") or end - at < 2 or any(t.low in YOU for t in sentence[start:end]):
        return None
    if not (
        any(t.low in _MINE for t in sentence[start:end])
        or _judges(sentence, start, at, end)
        or _counts(sentence, start, at, end)
        or _agrees(sentence, start, at, end)
        or _mine_alone(sentence, at, end)
    ):
        return None
    return Stated(start, at, end, stopped)


_JUDGEMENTS: Final = _set(
    """important key crucial essential necessary vital hard tough difficult rewarding scary challenging therapeutic
    relaxing calming fun worth valuable powerful amazing inspiring great fulfilling stressful exhausting freeing
    empowering helpful healing best"""
)


def _is_called(sentence: Sequence[Token], at: int) -> bool:
    """Whether somebody is addressed: "Yes Jon, …"."""
    return at < 2 and sentence[at].text.istitle() and low(sentence, at + 1) == ","


def _of_me(sentence: Sequence[Token], at: int) -> bool:
    """Whether a verb stands there whose object is the speaker."""
    known = verbs.verb(sentence[at].low)
    return (
        known is not None
        and low(sentence, at + 1) in ("me", "us", "my", "our")
        and bool(known.forms & {"base", "third", "past"})
    )


def _judges(sentence: Sequence[Token], start: int, at: int, end: int) -> bool:
    """ "Sharing experiences is important"."""
    is_doing = sentence[start].low.endswith("ing") and verbs.base_of_gerund(sentence[start].low) is not None
    return is_doing and at - start > 1 and any(t.low in _JUDGEMENTS for t in sentence[at:end])


_ACCEPTED: Final = _set("good fine right perfect manageable reasonable acceptable doable practical feasible ideal")


def _mine_alone(sentence: Sequence[Token], at: int, end: int) -> bool:
    """ "The train is the only time I have to read"."""
    said = [t.low for t in sentence[at:end]]
    return said[0] in ("is", "was") and "i" in said and "only" in said[: said.index("i")]


def _agrees(sentence: Sequence[Token], start: int, at: int, end: int) -> bool:
    """ "The garden cafe sounds perfect": what was proposed has a name, and is accepted."""
    named = [t for t in sentence[start + 1 : at] if t.is_word and t.low not in FUNCTION]
    is_told = sentence[start].low in ("the", "that", "this") or sentence[start].text.istitle()
    is_named = len(named) > 1 or any(t.text[0].isupper() for t in named)
    return (
        sentence[at].low in ("sounds", "sound", "works", "work")
        and is_told
        and is_named
        and any(t.low in _ACCEPTED for t in sentence[at + 1 : end])
    )


def _counts(sentence: Sequence[Token], start: int, at: int, end: int) -> bool:
    """ "The budget is 900 euros"."""
    return (
        sentence[start].low == "the"
        and sentence[at].low in ("is", "was")
        and any(t.text[0].isdigit() for t in sentence[at:end])
    )
