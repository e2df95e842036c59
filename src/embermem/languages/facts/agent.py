"""Statements of an assistant about itself: patterns whose group `v` is a value, but for those in questions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from embermem.core.patterns import regex
from embermem.languages.facts.finding import USER, Finding

_END = regex(r"[.!?。！？\n]|$")


def find(rules: Iterable[tuple[str, re.Pattern[str]]], text: str) -> Iterator[Finding]:
    """What the rules find in a text, by rule."""
    for attribute, pattern in rules:
        for match in pattern.finditer(text):
            end = _END.search(text, match.end())
            if end is None or end.group() not in ("?", "？"):
                yield Finding(subject=USER, attribute=attribute, value=match["v"], start=match.start(), end=match.end())
