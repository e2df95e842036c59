"""Labelled messages with other values in the places of theirs, so that a reader learns the words around a value and not
the value (mention replacement: Dai and Adel 2020, "An Analysis of Simple Data Augmentation for Named Entity
Recognition", arXiv 2010.11683)."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from labelled import Claim, Labelled, Span

__all__ = ["replaced"]

NAMING = frozenset(
    "name nickname age birthday nationality religion contact comes_from lives_in works_as works_at studies studies_at "
    "learns speaks has_pet owns allergic_to takes afraid_of".split()
)
"""Attributes whose values are names and nouns, one of which may stand where another stood."""
MOST_CHARACTERS, MOST_WORDS = 28, 4
# Of the values that may be replaced, how many are.
SHARE = 0.6
# Scripts lie in blocks of about this many code points.
BLOCK = 0x300

_Shape = tuple[str, str, bool, bool, int, int]


def replaced(data: Sequence[Labelled], draw: random.Random) -> list[Labelled]:
    """The messages, in their order. A value is drawn from those of the same attribute, language, length in words and
    kind of characters. Talk of other sources, whose language is not told, stays as it is."""
    values: defaultdict[_Shape, list[str]] = defaultdict(list)
    for one in data:
        for claim in _replaceable(one):
            words = one.text[slice(*claim.value)]
            values[_shape(one, claim)].append(words)
    return [_replaced(one, values, draw) for one in data]


def _replaceable(one: Labelled) -> Iterator[Claim]:
    """Claims whose value is short, and whose words no other label shares."""
    spans = [span for c in one.claims for span in {c.value, c.who, c.time, c.relation} if span is not None]
    for claim in one.claims if one.language else ():
        words = one.text[slice(*claim.value)]
        is_short = len(words) <= MOST_CHARACTERS and len(words.split()) <= MOST_WORDS
        apart = (span == claim.value or not _overlap(span, claim.value) for span in spans)
        if claim.attribute in NAMING and not claim.event and is_short and all(apart):
            yield claim


def _overlap(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _shape(one: Labelled, claim: Claim) -> _Shape:
    words = one.text[slice(*claim.value)]
    first = words[0]
    block = ord(first) // BLOCK if first.isalpha() else 0
    digits = any(char.isdigit() for char in words)
    return claim.attribute, one.language, first.isupper(), digits, len(words.split()), block


def _replaced(one: Labelled, values: defaultdict[_Shape, list[str]], draw: random.Random) -> Labelled:
    new: dict[Span, str] = {}
    for claim in _replaceable(one):
        if draw.random() < SHARE:
            words = draw.choice(values[_shape(one, claim)])
            new[claim.value] = words.lower() if one.text.islower() else words
    if not new:
        return one
    spans = sorted(new)
    ends = [0, *(end for _, end in spans)]
    between = [one.text[begin:start] for begin, (start, _) in zip(ends, spans, strict=False)]
    text = "".join(part for gap, span in zip(between, spans, strict=True) for part in (gap, new[span]))

    def longer(begin: int, end: int) -> int:
        """By how much the values that begin in [begin, end) have grown."""
        return sum(len(words) - (span[1] - span[0]) for span, words in new.items() if begin <= span[0] < end)

    def moved(span: Span) -> Span:
        return span[0] + longer(0, span[0]), span[1] + longer(0, span[1])

    def part(span: Span | None) -> Span | None:
        return None if span is None else moved(span)

    claims = tuple(
        replace(c, value=moved(c.value), who=part(c.who), time=part(c.time), relation=part(c.relation))
        for c in one.claims
    )
    return replace(one, text=text + one.text[ends[-1] :], claims=claims)
