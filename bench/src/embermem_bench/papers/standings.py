"""How papers sum up a table: the mean over categories, average ranks, and the improvement over the best other system.

Pure functions; a figure that is missing is None, and so is what rests on it. docs/research/results.md says which cells
of the published tables these rules reproduce.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence


def macro(figures: Iterable[float | None]) -> float | None:
    """The mean over categories, each counted alike. None if one is missing, and of none."""
    values = list(figures)
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def average_ranks(rows: Mapping[str, Sequence[float | None]]) -> Mapping[str, float | None]:
    """For each system the mean of its ranks over the columns, 1 for the highest figure; equals share the better rank.

    None for a system that lacks a figure: it is not ranked, and the others are ranked without it.
    """
    whole = {name: [v for v in row if v is not None] for name, row in rows.items() if None not in row and row}
    ranks = {
        name: [1 + sum(other[n] > value for other in whole.values()) for n, value in enumerate(row)]
        for name, row in whole.items()
    }
    return {name: sum(ranks[name]) / len(ranks[name]) if name in ranks else None for name in rows}


def improvement(ours: float | None, others: Iterable[float | None]) -> float | None:
    """(ours − best) / best in per cent, where best is the highest figure of the others. None without one, or if it is
    0."""
    known = [value for value in others if value is not None]
    best = max(known, default=0.0)
    return None if ours is None or best <= 0.0 else 100.0 * (ours - best) / best
