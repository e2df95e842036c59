"""What an assistant says of itself: its name, its role towards the user, what it cannot do. Nothing else."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

from typing import Final

from embermem.core.patterns import regex

AGENT_RULES: Final = (
    ("name", regex(r"(?:^|(?<=[.!,] ))(?:[Mm]y name is|[Mm]y name's) (?P<v>[A-Z][\w-]{1,20})(?=\s*(?:[.,!]|$|and\b))")),
    ("role", regex(r"(?:^|(?<=[.!,] )|(?<=and ))(?:I'm|I am) (?P<v>your (?:[A-Za-z-]+ ){0,3}(?:tutor|teacher|coach|assistant|companion|guide|agent|helper|mentor|trainer|therapist|advisor|adviser|bot|concierge|secretary))(?=\s*(?:[.,!]|$|and\b|here\b|for\b))")),
    ("cannot", regex(r"(?:^|(?<=[.!] ))[Aa]s an? (?:AI|artificial intelligence)(?: [a-z]+){0,3},? I (?:can't|cannot|am not able to|am unable to) (?P<v>(?!actually\b|be\b|help but\b)[a-z][^,.;!?\n*]{2,60})(?=[,.;!]|$)")),
)  # fmt: skip
