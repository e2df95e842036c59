"""What else of a long text may be quoted besides the passage that it is ranked by."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from embermem.core import equations
from embermem.index.query_context import View

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["with_other_passages"]


def with_other_passages(
    view: View, scores: Floats, rows: NDArray[np.int64], told: Floats, *, first: int
) -> tuple[NDArray[np.int64], Floats]:
    """`rows`, the best passage of each text ranked, best first, with the penalties `told`; then, best first, the other
    passages of the `first` of these texts, with theirs.

    A passage pays what its text does, and told_penalty for the passages of its text that are better. `scores` are of
    all rows, shape (n,); one of the score −∞ is out of reach.
    """
    texts, settings = view.texts, view.settings
    of, paid = texts.of(rows[:first]), np.zeros(texts.count)
    paid[of] = told[:first]
    passages = texts.rows_of(of)
    passages = passages[np.isfinite(scores[passages])]
    passages = passages[np.lexsort((-scores[passages], texts.of(passages)))]
    of = texts.of(passages)
    begins = np.flatnonzero(np.append(True, of[1:] != of[:-1])[: len(of)])
    chars = np.expm1(view.snapshot.text_length(view.n)[passages].astype(np.float64))
    above = np.cumsum(chars) - chars
    above -= np.repeat(above[begins], np.diff(np.append(begins, len(of))))
    again = [equations.told_penalty(one, settings.told_unit) for one in above.tolist()]
    penalties = paid[of] + settings.recall_told * np.array(again)
    others = np.flatnonzero(np.isin(passages, rows, invert=True))
    others = others[np.argsort(penalties[others] - scores[passages[others]], kind="stable")]
    return np.concatenate([rows, passages[others]]), np.concatenate([told, penalties[others]])
