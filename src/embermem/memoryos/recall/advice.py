"""Who asks for advice is told what that person wants, likes, avoids and may not, in whatever words and however long ago
it was said: the utterances on which such facts rest that still hold count more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from embermem.core.attributes import Kind, kind, standing
from embermem.index.query_context import View

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["needs_advice", "of_wishes"]

_ADVICE = 0.3
"""The probability from which a query asks for advice: less would help no utterance up."""
_KINDS = frozenset((Kind.TASTE, Kind.HEALTH, Kind.PLAN, Kind.INSTRUCTION))


def needs_advice(view: View) -> float:
    """The probability that a query asks for advice, as far as a trained reader says so; 0 for one that hardly does."""
    needs = view.query.needs
    return 0.0 if needs is None or needs.advice < _ADVICE else needs.advice


def of_wishes(view: View) -> Floats:
    """1 for each row that a person said and on which a wish, a taste, a limit or a plan rests that holds, shape
    (n,)."""
    facts = view.snapshot.facts
    held = (fact.current and (kind(fact.attribute) in _KINDS or standing(fact.attribute)) for fact in facts.rows)
    stated = np.fromiter(map(bool, held), dtype=bool, count=len(facts.rows))
    found = np.zeros(view.n)
    if not stated.any():
        return found
    rows, inside = facts.found(view.snapshot.seqs[: view.n])
    rows = rows[inside & stated[facts.source_seqs[0]]]
    by_agent = [view.snapshot.utterances[row].role.agent_side for row in rows.tolist()]
    found[rows[~np.array(by_agent, dtype=bool)]] = 1.0
    return view.texts.spread(found[view.texts.begins]) if not view.texts.are_rows else found
