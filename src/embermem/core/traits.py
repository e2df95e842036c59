"""The 90 dimensions of user traits: three categories (needs and personality, alignment, interest), each with a high
pole (+1) and a low one (−1). Source: the MemoryOS paper §3.3, after Li et al. 2025 (arXiv:2503.15463)."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources


@dataclass(frozen=True, kw_only=True, slots=True)
class Dimension:
    """One dimension: what +1 and −1 mean."""

    number: int
    category: str
    name: str
    high: str
    low: str

    def pole(self, level: float) -> str:
        """The pole that a level leans to, in words."""
        return self.high if level >= 0 else self.low


@cache
def dimensions() -> tuple[Dimension, ...]:
    """All 90, in order."""
    text = resources.files("embermem").joinpath("data", "user_traits.csv").read_text(encoding="utf-8")
    return tuple(
        Dimension(
            number=int(row["number"]),
            category=row["category"],
            name=row["dimension"],
            high=row["high"],
            low=row["low"],
        )
        for row in csv.DictReader(text.splitlines())
    )


@cache
def dimensions_by_name() -> Mapping[str, Dimension]:
    """The same by name."""
    return {dimension.name: dimension for dimension in dimensions()}
