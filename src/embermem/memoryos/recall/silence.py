"""Silence: whether a message that nobody asked memory about is to be given anything of it.

`recall(mode="inject")` is for what is put before a model unasked. Whether a message needs memory is told by what the
trained reader says of the message alone, by how likely what it asks was said at all (confidence.py), and by whether it
names somebody or a day that is known; without the reader nothing but courtesy gets nothing. docs/research/contexts.md
has the rates.
"""

from __future__ import annotations

from embermem.core import equations
from embermem.index.query_context import View
from embermem.languages.questions import asks_for_overview, asks_of_oneself
from embermem.languages.words import asks
from embermem.memoryos.people import People
from embermem.memoryos.recall.confidence import is_of_memory
from embermem.memoryos.recall.exchanges import says_nothing

__all__ = ["why_silent"]

_BASE, _NOTHING, _ANSWERABLE, _OF_MEMORY = -1.6, -1.2, 0.35, 2.0
"""ln of the odds that a message needs memory: base, and the weights of the log odds that it needs none by itself, of
those that what it asks was said, and of naming somebody or a day that is known, or asking of oneself."""
_CLIPPED = 1e-3
"""The least probability, and the greatest one's distance from 1, of which log odds are taken."""
_NEEDED = 0.5
"""The probability from which memory is given."""


def why_silent(view: View, answerable: float, people: People) -> str | None:
    """Why a message gets nothing; None where it gets what bears on it. A turn that rests on others of its thread is as
    these."""
    text = view.query.text
    if view.query.before or asks_for_overview(text):
        return None
    needs = view.query.needs
    if needs is None:
        return "nothing was told: the message is thanks, a greeting or the like" if says_nothing(text) else None
    odds = _BASE + _NOTHING * equations.log_odds(needs.nothing, _CLIPPED)
    odds += _ANSWERABLE * equations.log_odds(answerable, _CLIPPED)
    of_memory = is_of_memory(view, people) or (asks_of_oneself(text) and asks(text.rstrip()))
    needed = equations.logistic(odds + (_OF_MEMORY if of_memory else 0.0))
    if needed >= _NEEDED:
        return None
    return (
        f"nothing was told: the message needs memory with a probability of {needed:.2f} (by itself "
        f"{1.0 - needs.nothing:.2f}; what it asks was said with {answerable:.2f})"
    )
