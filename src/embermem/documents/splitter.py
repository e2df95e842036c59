"""Passages: the parts of a document that are found and quoted, cut at headings, paragraphs and sentences.

A passage holds 60 to 200 words where the text lets it, all of one section, and no word is cut. Together the passages
hold all of the text but white space, each character once. The work is linear in the length of the text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from embermem.documents.markdown import LIST_ITEM
from embermem.documents.outline import Block, Outline
from embermem.languages.words import sentences, unspaced, words_cut

__all__ = ["Part", "split"]

_LEAST, _GOOD, _MOST = 60, 150, 200
"""Words of a passage: fewer are joined to what follows; so many are aimed at, being what small embedders read; more are
cut."""
_SIGNS_A_WORD = 1.6
"""Characters of a language without spaces that count as a word."""
_CHARS_A_WORD = 15
"""Characters that count as a word at least: addresses and encoded data are long."""

_WORD = re.compile(r"\S+")
_Span = tuple[int, int]
_Piece = tuple[int, int, float]
"""The characters [start, end) and how many words they are."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """The characters [start, end) of a document's text, and the headings that they stand under."""

    start: int
    end: int
    place: tuple[str, ...]


def split(outline: Outline) -> list[Part]:
    """The passages of a document, in order. A place leaves out the heading that is the document's title."""
    parts: list[Part] = []
    for place, heads, blocks in _sections(outline):
        pieces = [piece for block in blocks for piece in _pieces(outline.text, block)]
        spans = _filled(pieces)
        written = [head for head in heads if head.start < head.end]
        if written:  # headings come with what follows them
            spans[:1] = [(written[0].start, spans[0][1] if spans else written[-1].end)]
        parts.extend(Part(start=start, end=end, place=place) for start, end in spans)
    return parts


def _sections(outline: Outline) -> Iterator[tuple[tuple[str, ...], list[Block], list[Block]]]:
    """Each section's place, the headings that it begins with, and its other blocks."""
    path: list[tuple[int, str]] = []
    heads: list[Block] = []
    blocks: list[Block] = []
    for block in outline.blocks:
        if block.level:
            if blocks:
                yield _place(path, outline.title), heads, blocks
                heads, blocks = [], []
            heads.append(block)
            path = [*((level, name) for level, name in path if level < block.level), (block.level, block.name)]
        else:
            blocks.append(block)
    if heads or blocks:
        yield _place(path, outline.title), heads, blocks


def _place(path: Sequence[tuple[int, str]], title: str) -> tuple[str, ...]:
    return tuple(name for level, name in path if name and (level, name) != (1, title))


def _filled(pieces: Sequence[_Piece]) -> list[_Span]:
    """Pieces put together to passages. A short rest goes to the passage before it, where that has room."""
    filled: list[_Piece] = []
    for start, end, size in pieces:
        if filled:
            first, _, held = filled[-1]
            most = _MOST + _LEAST if held < _LEAST else _GOOD
            if held + size <= most:
                filled[-1] = (first, end, held + size)
                continue
        filled.append((start, end, size))
    if len(filled) > 1 and filled[-1][2] < _LEAST and filled[-2][2] + filled[-1][2] <= _MOST:
        filled[-2:] = [(filled[-2][0], filled[-1][1], filled[-2][2] + filled[-1][2])]
    return [(start, end) for start, end, _ in filled]


def _pieces(text: str, block: Block) -> list[_Piece]:
    """A block; where it is too long, about equal parts of it."""
    start, end = _trimmed(text, block.start, block.end)
    size = _size(text[start:end])
    if size <= _MOST:
        return [(start, end, size)] if start < end else []
    share = size / math.ceil(size / _GOOD)
    pieces: list[_Piece] = []
    for first, last in _units(text, start, end, lines=block.whole):
        more = _size(text[first:last])
        if pieces and pieces[-1][2] + more / 2 <= share:
            pieces[-1] = (pieces[-1][0], last, pieces[-1][2] + more)
        else:
            pieces.append((first, last, more))
    return pieces


def _units(text: str, start: int, end: int, *, lines: bool) -> Iterator[_Span]:
    """The lines of code and tables, the sentences of a paragraph; what is too long of these at its words."""
    part = text[start:end]
    for first, last in _lines(part) if lines else sentences(_unwrapped(part)):
        if _size(part[first:last]) <= _MOST:
            yield start + first, start + last
        else:
            yield from _cut(text, start + first, start + last)


def _lines(text: str) -> Iterator[_Span]:
    begin = 0
    for line in text.splitlines(keepends=True):
        first, last = _trimmed(text, begin, begin + len(line))
        if first < last:
            yield first, last
        begin += len(line)


def _unwrapped(text: str) -> str:
    """The text with lines that go on put together, to the same length; items of lists keep their lines."""
    lines = text.split("\n")
    return lines[0] + "".join(("\n" if LIST_ITEM.match(line) else " ") + line for line in lines[1:])


def _cut(text: str, start: int, end: int) -> Iterator[_Span]:
    """Parts of a sentence that is too long, between words."""
    begin, size, upto = start, 0.0, start
    for match in _WORD.finditer(text, start, end):
        for first, last in words_cut(text, match.start(), match.end()):
            more = _size(text[first:last])
            if size and size + more > _GOOD:
                yield begin, upto
                begin, size = first, 0.0
            size, upto = size + more, last
    if size:
        yield begin, upto


def _size(text: str) -> float:
    """How many words a text has."""
    signs = unspaced(text)
    return max(
        len(text.split()) * (1 if not signs else 0.5) + signs / _SIGNS_A_WORD, (len(text) - signs) / _CHARS_A_WORD
    )


def _trimmed(text: str, start: int, end: int) -> _Span:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
