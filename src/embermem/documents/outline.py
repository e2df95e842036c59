"""What a document is made of, whatever format it came in: its text, and where headings, paragraphs, code and tables
stand in it."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, replace

from embermem.core.sensitive import Redacted

_LINK = re.compile(r"!?\[([^\[\]]*)\](?:\([^()\s]*\)|\[[^\[\]]*\])")
_ANCHOR = re.compile(r"\{#[^{}]*\}$")
_MARKS = re.compile(r"^[\s#]+|[\s#=-]+$|\*\*|__|`|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)")
_LONGEST_NAME = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """The characters [start, end) of a document's text: a paragraph, or with a `level` (1 to 6) a heading whose words
    are `name`. One that is `whole` (code, a table) is cut between its lines, and only where it is too long."""

    start: int
    end: int
    level: int = 0
    name: str = ""
    whole: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Outline:
    """A document's text and its blocks, in order; what stands between them is white space. `title` is empty where the
    document names none."""

    text: str
    blocks: tuple[Block, ...]
    title: str = ""

    def redacted(self, left: Redacted) -> Outline:
        """The outline of the text that is left of this one's."""
        if not left.taken:
            return self
        begins = [start for start, _ in left.taken]

        def moved(at: int) -> int:
            place = bisect_right(begins, at) - 1
            if place < 0:
                return at
            (_, end), found = left.taken[place], left.places[place]
            return found.end + at - end if at >= end else found.start

        blocks = [replace(block, start=moved(block.start), end=moved(block.end)) for block in self.blocks]
        named = (
            replace(block, name=heading_name(left.text[block.start : block.end])) if block.start < block.end else block
            for block in blocks
        )
        return replace(self, text=left.text, blocks=tuple(named))


def heading_name(heading: str) -> str:
    """A heading's words, without the marks of Markdown."""
    text = _LINK.sub(r"\1", _ANCHOR.sub("", heading.strip()).rstrip()[:_LONGEST_NAME])
    return " ".join(_MARKS.sub("", text).split())


class OutlineBuilder:
    """An outline made block by block, of texts that a reader of a format gives."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._blocks: list[Block] = []

    def add(self, text: str, *, level: int = 0, whole: bool = False, gap: str = "\n\n") -> None:
        """The next block, parted from the one before by `gap`. White space alone is none."""
        text = text.rstrip() if whole else text.strip()
        if not text.strip():
            return
        if self._parts:
            self._append(gap)
        start = self._length
        self._append(text)
        name = heading_name(text) if level else ""
        self._blocks.append(Block(start=start, end=self._length, level=level, name=name, whole=whole))

    def begin(self, name: str) -> None:
        """What follows stands under a name that is not in the text, such as a page's number."""
        self._blocks.append(Block(start=self._length, end=self._length, level=1, name=name))

    def outline(self, title: str = "") -> Outline:
        """What was added."""
        return Outline(text="".join(self._parts), blocks=tuple(self._blocks), title=" ".join(title.split()))

    def _append(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)
