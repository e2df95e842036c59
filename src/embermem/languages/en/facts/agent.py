"""What an assistant says of itself: its name, its role towards the user, what it cannot do. Nothing else."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from embermem.core.patterns import regex
from embermem.languages.facts.finding import USER, Finding

_RULES: Final = (
    ("name", regex(r"(?:^|(?<=[.!,] ))(?:[Mm]y name is|[Mm]y name's) (?P<v>[A-Z][\w-]{1,20})(?=\s*(?:[.,!]|$|and\b))")),
    ("role", regex(r"(?:^|(?<=[.!,] )|(?<=and ))(?:I'm|I am) (?P<v>your (?:[A-Za-z-]+ ){0,3}(?:tutor|teacher|coach|assistant|companion|guide|agent|helper|mentor|trainer|therapist|advisor|adviser|bot|concierge|secretary))(?=\s*(?:[.,!]|$|and\b|here\b|for\b))")),
    ("cannot", regex(r"(?:^|(?<=[.!] ))[Aa]s an? (?:AI|artificial intelligence)(?: [a-z]+){0,3},? I (?:can't|cannot|am not able to|am unable to) (?P<v>(?!actually\b|be\b|help but\b)[a-z][^,.;!?\n*]{2,60})(?=[,.;!]|$)")),
)  # fmt: skip
_END: Final = regex(r"[.!?。！？\n]|$")


def statements(text: str) -> Iterator[Finding]:
    """What an assistant says of itself in a screened text, but for what it asks, by rule."""
    for attribute, pattern in _RULES:
        for match in pattern.finditer(text):
            end = _END.search(text, match.end())
            if end is None or end.group() not in ("?", "？"):
                yield Finding(subject=USER, attribute=attribute, value=match["v"], start=match.start(), end=match.end())
