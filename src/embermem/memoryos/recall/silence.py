"""Silence: whether a message that nobody asked memory about is to be given anything of it.

`recall(mode="inject")` is for what is put before a model unasked. Whether a message needs memory is told by two things:
what the trained reader says of the message alone, and how likely what it asks was said at all (confidence.py). Their
weights were fitted with each corpus left out in turn: docs/research/contexts.md has the rates.
"""

from __future__ import annotations

from embermem.core import equations
from embermem.index.query_context import View
from embermem.memoryos.people import People
from embermem.memoryos.recall.confidence import is_of_memory

__all__ = ["why_silent"]

_BASE, _NOTHING, _ANSWERABLE = -2.46, -0.86, 1.54
"""ln of the odds that a message needs memory: base, and the weights of the log odds that it needs none by itself, and
that what it asks was said."""
_CLIPPED = 1e-3
"""The least probability, and the greatest one's distance from 1, of which log odds are taken."""
_NEEDED = 0.2
"""The probability from which memory is given: less would lose more of what is needed than it spares."""
_ANSWERED = 0.5
"""The probability that it was said, from which memory is given where no trained reader says what a message needs."""


def why_silent(view: View, answerable: float, people: People) -> str | None:
    """Why a message gets nothing; None where it gets what bears on it. A turn that rests on others of its thread is as
    these."""
    if view.query.before:
        return None
    needs = view.query.needs
    if needs is None:
        if answerable >= _ANSWERED or (view.terms and is_of_memory(view, people)):
            return None
        return f"nothing was told: what it asks was said with a probability of {answerable:.2f} only"
    odds = _BASE + _NOTHING * equations.log_odds(needs.nothing, _CLIPPED)
    needed = equations.logistic(odds + _ANSWERABLE * equations.log_odds(answerable, _CLIPPED))
    if needed >= _NEEDED:
        return None
    return (
        f"nothing was told: the message needs memory with a probability of {needed:.2f} (by itself "
        f"{1.0 - needs.nothing:.2f}; what it asks was said with {answerable:.2f})"
    )
