"""The blocks of Markdown and of plain text. Linear in the length: each line is looked at once."""

from __future__ import annotations

import re
from collections.abc import Iterator

from embermem.documents.outline import Block, Outline, heading_name

__all__ = ["LIST_ITEM", "markdown", "plain"]

LIST_ITEM = re.compile(r"[ \t]*(?:[-*+•]|\d{1,4}[.)])[ \t]+\S")
"""The beginning of a line that is an item of a list."""

_LINE = re.compile(r"[^\n]*\n?")
_HEADING = re.compile(r" {0,3}(#{1,6})(?![^ \t])(.*)", re.DOTALL)
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})(.*)$")
_RULE_OF_COLUMN = re.compile(r":?-+:?")
_FRONT = "---"
_Line = tuple[int, int, str]
"""[start, end) of a line without its end, and its text."""


def markdown(text: str) -> Outline:
    """The outline of Markdown. Its title is its first heading, if that is of level 1 and no other is."""
    blocks = tuple(_blocks(list(_lines(text))))
    tops = [block for block in blocks if block.level == 1]
    return Outline(text=text, blocks=blocks, title=tops[0].name if len(tops) == 1 else "")


def plain(text: str) -> Outline:
    """The outline of plain text: paragraphs, parted by empty lines."""
    return Outline(text=text, blocks=tuple(_paragraphs(list(_lines(text)))))


def _lines(text: str) -> Iterator[_Line]:
    for match in _LINE.finditer(text):
        line = match.group().rstrip("\n")
        if match.group():
            yield match.start(), match.start() + len(line), line


def _paragraphs(lines: list[_Line]) -> Iterator[Block]:
    begin: int | None = None
    end = 0
    for start, stop, line in lines:
        if line.strip():
            begin, end = start if begin is None else begin, stop
        elif begin is not None:
            yield Block(start=begin, end=end)
            begin = None
    if begin is not None:
        yield Block(start=begin, end=end)


def _blocks(lines: list[_Line]) -> Iterator[Block]:
    at = _end_of_front(lines)
    if at:
        yield Block(start=lines[0][0], end=lines[at - 1][1], whole=True)
    held: list[_Line] = []
    while at < len(lines):
        start, end, line = lines[at]
        after, block = at + 1, None
        if (fence := _FENCE.match(line)) is not None and "`" not in fence[2]:
            after = _end_of_fence(lines, at, fence[1])
            block = Block(start=start, end=lines[after - 1][1], whole=True)
        elif (heading := _HEADING.match(line)) is not None:
            block = Block(start=start, end=end, level=len(heading[1]), name=_heading_text(heading[2]))
        elif len(held) == 1 and (rule := _UNDERLINE.match(line)) is not None and not _is_special(held[0][2]):
            level = 1 if rule[1][0] == "=" else 2
            block = Block(start=held[0][0], end=end, level=level, name=heading_name(held[0][2]))
            held = []
        elif "|" in line and at + 1 < len(lines) and "|" in lines[at + 1][2] and _is_rule(lines[at + 1][2]):
            after = _end_of_table(lines, at)
            block = Block(start=start, end=lines[after - 1][1], whole=True)
        elif line.strip():
            held.append(lines[at])
        if block is not None or not line.strip():
            yield from _paragraphs(held)
            held = []
        if block is not None:
            yield block
        at = after
    yield from _paragraphs(held)


def _heading_text(line: str) -> str:
    """The words of a heading, without the signs that may close it."""
    text = line.strip(" \t")
    words = text.rstrip("#")
    return heading_name(words if not words or words[-1] in " \t" else text)


def _is_rule(line: str) -> bool:
    """Whether a line parts the head of a table from its rows."""
    columns = line.strip().removeprefix("|").removesuffix("|").split("|")
    return all(_RULE_OF_COLUMN.fullmatch(one.strip()) for one in columns)


def _is_special(line: str) -> bool:
    return LIST_ITEM.match(line) is not None or line.lstrip().startswith(">")


def _end_of_front(lines: list[_Line]) -> int:
    """The line after the settings that may stand first, between two rules; 0 where there are none."""
    if not lines or lines[0][2].rstrip() != _FRONT:
        return 0
    for at, (_, _, line) in enumerate(lines[1:], 1):
        if line.rstrip() == _FRONT:
            return at + 1
        if not line.strip():
            return 0
    return 0


def _end_of_fence(lines: list[_Line], at: int, fence: str) -> int:
    for after in range(at + 1, len(lines)):
        line = lines[after][2].strip()
        if line.startswith(fence) and not line.strip(fence[0]):
            return after + 1
    return len(lines)


def _end_of_table(lines: list[_Line], at: int) -> int:
    while at < len(lines) and "|" in lines[at][2]:
        at += 1
    return at
