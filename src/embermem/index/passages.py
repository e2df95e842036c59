"""Passages: the parts in which a long text is indexed, so that what stands late in it is found like what stands first.

An embedder reads the beginning of a text only, and BM25 makes a word of a long text count little. A row of the index is
therefore a passage. Nearly every utterance is one passage.
"""

from __future__ import annotations

from embermem.languages.words import sentences

__all__ = ["passages"]

_LONG = 8_000
"""Characters above which a text is cut: about as many as token vectors reach (2,032 pieces). Cut from 4,000 on, fewer
questions of RealMem were answered (any@5 .650 in place of .668): the rows of one long answer compete with each other.
"""
_PASSAGE = 1_000
"""Characters of a passage at most: some 250 word pieces of English, which is what small embedders read."""


def passages(text: str) -> tuple[tuple[int, int], ...]:
    """The [start, end) of each passage in order; together they hold all of the text that is not white space.

    A passage ends after a sentence, or where a sentence alone is too long, at white space if there is any. Stored
    vectors rest on these cuts.
    """
    if len(text) <= _LONG:
        return ((0, len(text)),)
    cut: list[tuple[int, int]] = []
    for start, end in sentences(text):
        if cut and end - cut[-1][0] <= _PASSAGE:
            cut[-1] = (cut[-1][0], end)
        else:
            cut.extend(_parts(text, start, end))
    return tuple(cut) or ((0, len(text)),)


def _parts(text: str, start: int, end: int) -> list[tuple[int, int]]:
    parts = []
    while end - start > _PASSAGE:
        space = max(text.rfind(" ", start + _PASSAGE // 2, start + _PASSAGE), text.rfind("\n", start, start + _PASSAGE))
        middle = space if space > start else start + _PASSAGE
        parts.append((start, middle))
        start = middle
    return [*parts, (start, end)]
