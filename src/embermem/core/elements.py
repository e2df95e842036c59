"""Elements such as `<context>…</context>` that programs put into texts, found and taken out; those in code stay."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["FENCE", "elements", "without"]

FENCE = r"^(?P<fence>```+|~~~+)"
"""The beginning of a block of code. A pattern for `without` has it, and names an element's name."""
_TAGS_AHEAD = 64
"""How many tags are read ahead for the end of an element that has others of its name within."""


def elements(names: Iterable[str]) -> re.Pattern[str]:
    """What finds elements of these names, for `without`."""
    named = "|".join(map(re.escape, names))
    return re.compile(rf"{FENCE}|(?<![`'\"])<(?P<name>{named})(?:\s[^<>\n]*)?>", re.MULTILINE)


def without(text: str, elements: re.Pattern[str]) -> str:
    """A text without elements, where they are closed and not within a block of code. Time is linear in the length."""
    kept, upto, at, unclosed = list[str](), 0, 0, set[str]()
    while "<" in text and (found := elements.search(text, at)) is not None:
        at = found.end()
        mark = found[found.lastgroup or 0]
        if mark in unclosed:
            continue
        end = text.find(f"\n{mark}", at) if found.lastgroup == "fence" else _end(text, mark, at)
        if end < 0:
            unclosed.add(mark)
        elif found.lastgroup == "fence":
            at = end + 1 + len(mark)
        else:
            kept.append(text[upto : found.start()])
            upto = at = end
    return "".join((*kept, text[upto:])).strip() if kept else text


def _end(text: str, name: str, at: int) -> int:
    """Where an element ends: at its own closing tag, or where no tag is known to be that, at the first."""
    depth, first = 1, -1
    for number, tag in enumerate(re.compile(rf"<(/?){re.escape(name)}(?:\s[^<>\n]*)?>[ \t]*\n?").finditer(text, at)):
        depth += -1 if tag[1] else 1
        first = tag.end() if tag[1] and first < 0 else first
        if depth == 0:
            return tag.end()
        if number >= _TAGS_AHEAD and first >= 0:
            break
    return first
