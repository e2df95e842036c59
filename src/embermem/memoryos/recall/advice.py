"""Who asks for advice is told what that person wants, likes, avoids and may not, in whatever words and however long ago
it was said: what bears on the request by a trained likeness counts more (`reader/wishes.py`), and so do the utterances
on which such facts rest that still hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from embermem.core.attributes import Kind, kind, standing
from embermem.index.query_context import View

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["needs_advice", "of_wishes"]

_ADVICE = 0.5
"""The probability from which a query asks for advice: less would help no utterance up."""
_BEARS = 0.6
"""The weight of the trained likeness in the score: near 1 it would crowd out what else a long request is about."""
_KINDS = frozenset((Kind.TASTE, Kind.HEALTH, Kind.PLAN, Kind.INSTRUCTION))


def needs_advice(view: View) -> float:
    """The probability that a query asks for advice, as far as a trained reader says so; 0 for one that hardly does."""
    needs = view.query.needs
    return 0.0 if needs is None or needs.advice < _ADVICE else needs.advice


def of_wishes(view: View) -> Floats:
    """What each row that a person said counts more, shape (n,): by how likely it bears, without the mean, and by
    `recall_wishes` where a wish, a taste, a limit or a plan rests on it that holds."""
    by_agent = _by_agent(view)
    found = view.settings.recall_wishes * _held(view, by_agent)
    if view.query.wishes is None:
        return found
    bears = view.snapshot.dots(view.query.wishes, np.nan)
    bears -= np.nanmean(bears) if np.isfinite(bears).any() else 0.0
    return found + _BEARS * np.where(by_agent | np.isnan(bears), 0.0, bears)


def _by_agent(view: View) -> NDArray[np.bool_]:
    """Whether each row was said on the agent's side, shape (n,)."""
    speakers, which = view.snapshot.speaking()
    return np.array([role.agent_side for _, role in speakers], dtype=bool)[which]


def _held(view: View, by_agent: NDArray[np.bool_]) -> Floats:
    """1 for each row that a person said and on which a wish, a taste, a limit or a plan rests that holds, shape
    (n,)."""
    facts = view.snapshot.facts
    held = (fact.current and (kind(fact.attribute) in _KINDS or standing(fact.attribute)) for fact in facts.rows)
    stated = np.fromiter(map(bool, held), dtype=bool, count=len(facts.rows))
    found = np.zeros(view.n)
    if not stated.any():
        return found
    rows, inside = facts.found(view.snapshot.seqs[: view.n])
    found[rows[inside & stated[facts.source_seqs[0]]]] = 1.0
    found[by_agent] = 0.0
    return view.texts.spread(found[view.texts.begins]) if not view.texts.are_rows else found
