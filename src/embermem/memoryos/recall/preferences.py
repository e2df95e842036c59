"""Preferences, limits and wishes that bear on a question which asks for advice and names none of them.

"What should I cook for the party?" is answered with "I'm allergic to nuts" in mind. An utterance that states a
preference is evidence for such a question if it is of the question's theme: near to an example of a preference of that
theme, or with one of its words. docs/concepts/recall.md says how much that counts.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np

from embermem.index.products import cosines
from embermem.index.query_context import View
from embermem.languages.questions import asks_for_advice
from embermem.memoryos.recall.themes import bears_on, speaks_of, states_taste, themes_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["preferences"]

_LOOKED_AT = 24
"""Statements of preferences that are looked at, at most: those nearest to the examples (ours)."""
_BY_AGENT = 0.5
"""What a statement of the agent's side counts: it is seldom of a taste, but two friends may be the sides (ours)."""
_FAR, _NEAR = 0.2, 0.5
"""The cosines to an example between which a statement comes to be of the theme (ours; MiniLM)."""
_WORD = 0.5
"""How far a word of the theme, or a fact, makes a statement of the theme (ours); without vectors it does so alone."""


def preferences(view: View, scores: Floats) -> Floats | None:
    """How much each row states a preference of the query's theme, in [0, 1], shape (n,); None where the query asks for
    no advice. What an agent said counts half, documents state none. `scores` (n,) choose among what is equally near."""
    if not asks_for_advice(view.query.text):
        return None
    themes = themes_of(view.query.text) | view.query.themes
    known = _of_facts(view, themes)
    stated = view.snapshot.states_preference(view.n) & ~view.snapshot.asks(view.n)
    stated[known] = True
    rows = np.flatnonzero(stated & np.isfinite(scores) & ~view.snapshot.is_passage(view.n))
    if len(rows) == 0:
        return None
    near, word = np.zeros(len(rows)), 1.0
    if view.query.statements is not None:
        near = cosines(view.snapshot.vectors_of(rows), view.query.statements).max(axis=1).astype(np.float64)
        near, word = np.clip((near - _FAR) / (_NEAR - _FAR), 0.0, 1.0), _WORD
    near[np.isin(rows, known)] += word
    found = np.zeros(view.n)
    for place in np.lexsort((-scores[rows], -near))[:_LOOKED_AT].tolist():
        row = int(rows[place])
        names = bool(themes) and speaks_of(view.snapshot.text(row), themes)
        share = _BY_AGENT if view.snapshot.utterances[row].role.agent_side else 1.0
        found[row] = share * min(1.0, near[place] + word * names)
    return found


def _of_facts(view: View, themes: Collection[str]) -> NDArray[np.int64]:
    """The rows that facts of these themes rest on: limits, goals and tastes of anybody."""
    table = view.snapshot.facts
    places = [place for place, fact in enumerate(table.rows) if bears_on(fact, themes) or states_taste(fact, themes)]
    of, _ = table.source_seqs
    rows, inside = table.found(view.snapshot.seqs[: view.n])
    return np.unique(rows[inside & np.isin(of, places)])
