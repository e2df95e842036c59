"""Passages: the parts in which a long text is indexed, so that what stands late in it is found like what stands first.

An embedder reads the beginning of a text only, and BM25 makes a word of a long text count little. A row of the index is
therefore a passage. Most utterances are one passage, and an utterance is ranked by its best one (index/texts.py).
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

from embermem.languages.words import sentences, unspaced

if TYPE_CHECKING:
    from embermem.core.types import Utterance

__all__ = ["passages", "passages_of"]

_PASSAGE = 800
"""Letters of a passage, about; docs/research/recall.md has what 400 to 1,000 give."""
_WHOLE = 1_000
"""Letters up to which a text is one passage."""
_SLACK = 1.25
"""How many times as long as meant a passage may be, for a sentence to end in it."""
_BEFORE_WHOLE, _BEFORE_PASSAGE = 8_000, 1_000
"""The same numbers, in characters, of the cut of documents, on which vectors of migrated stores rest too."""

_Span = tuple[int, int]


def passages_of(utterance: Utterance, vectors: int | None = None) -> tuple[_Span, ...]:
    """The passages of an utterance's text; `vectors` is how many vectors are stored for it, if any are. What a document
    was split into is cut no further, but for what no splitter made so long."""
    return _before(utterance.text) if utterance.passage is not None else passages(utterance.text, vectors)


def passages(text: str, vectors: int | None = None) -> tuple[_Span, ...]:
    """The [start, end) of each passage in order; together they hold all of the text that is not white space.

    Passages of one text are about equally long and end after a sentence, or where a sentence alone is too long, at
    white space if there is any. Stored vectors rest on these cuts: `vectors`, how many are stored for the text, says
    whether it was cut as here, or as in a store that was migrated to schema 0013, where texts up to 8,000 characters
    were one passage.
    """
    cut = _evenly(text)
    if vectors is None or vectors == len(cut):
        return cut
    before = _before(text)
    return before if vectors == len(before) else cut


def _evenly(text: str) -> tuple[_Span, ...]:
    # Where words are written without spaces, a character says about as much as two letters.
    letters = len(text) if len(text) <= _WHOLE // 2 else len(text) + unspaced(text)
    if letters <= _WHOLE:
        return ((0, len(text)),)
    longest = _PASSAGE * len(text) // letters
    pieces = [part for start, end in sentences(text) for part in _parts(text, start, end, longest)]
    if not pieces:
        return ((0, len(text)),)
    begin, last = pieces[0][0], pieces[-1][1]
    cut: list[_Span] = []
    mark = _mark(begin, last, longest)
    for (_, end), (after, its_end) in pairwise(pieces):
        # It ends where it is nearer to the mark than with one more sentence, but not before what a colon announces.
        over, nearer = its_end - begin > _SLACK * longest, its_end - mark > mark - end
        if over or (nearer and text[end - 1] != ":"):
            cut.append((begin, end))
            begin, mark = after, _mark(after, last, longest)
    return (*cut, (begin, last))


def _mark(begin: int, last: int, longest: int) -> float:
    """Where a passage from here should end, for those of the rest to be equally long."""
    return begin + (last - begin) / math.ceil((last - begin) / longest)


def _before(text: str) -> tuple[_Span, ...]:
    if len(text) <= _BEFORE_WHOLE:
        return ((0, len(text)),)
    cut: list[_Span] = []
    for start, end in sentences(text):
        if cut and end - cut[-1][0] <= _BEFORE_PASSAGE:
            cut[-1] = (cut[-1][0], end)
        else:
            cut.extend(_parts(text, start, end, _BEFORE_PASSAGE))
    return tuple(cut) or ((0, len(text)),)


def _parts(text: str, start: int, end: int, longest: int) -> list[_Span]:
    parts = []
    while end - start > longest:
        space = max(text.rfind(" ", start + longest // 2, start + longest), text.rfind("\n", start, start + longest))
        middle = space if space > start else start + longest
        parts.append((start, middle))
        start = middle
    return [*parts, (start, end)]
